package build

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/project/setting"
)

// packageJSON is the part of the project's /package.json that decides how it is built.
type packageJSON struct {
	Dependencies    map[string]any `json:"dependencies"`
	DevDependencies map[string]any `json:"devDependencies"`
}

func (p packageJSON) has(name string) bool {
	_, ok := p.Dependencies[name]
	_, dev := p.DevDependencies[name]
	return ok || dev
}

const (
	manifestPath     = "/package.json"
	maxManifestBytes = 1 << 20
)

// parsePackageJSON returns the project's /package.json, or an empty value if there is none.
func parsePackageJSON(data []byte) (packageJSON, error) {
	var p packageJSON
	if data = trimBOM(data); data == nil {
		return p, nil
	}
	if len(data) > maxManifestBytes {
		return p, &failure.Error{Code: failure.BuildFailed, Path: "/package.json", Line: 1, Column: 1,
			Message: "The file is larger than the limit of 1 MiB. Make it smaller."}
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, &failure.Error{Code: failure.BuildFailed, Path: "/package.json", Line: 1, Column: 1,
			Message: "The file is not a valid package.json. It must be a JSON object whose dependencies are objects."}
	}
	return p, nil
}

// reason is why projects of a framework cannot be built.
type reason int

const (
	ownBuild reason = iota // the framework has a build of its own, or a compiler
	server                 // the framework serves requests
)

var reasons = map[reason]string{
	ownBuild: "its build runs code of the project, and this service executes none",
	server:   "it needs a server, and sites only serve files",
}

// framework is a framework that cannot be built.
type framework struct {
	name   string
	reason reason
	// settings are the values of the project's setting, packages the dependencies, and configs the beginnings of the
	// names of files in the root folder that show that a project uses the framework.
	settings, packages, configs []string
}

const changeSetting = "If the project is plain HTML or React, change the framework in its settings to static or react"

// unsupported are the known frameworks that cannot be built. Frameworks that use others come first.
var unsupported = []framework{
	{"Next.js", ownBuild, []string{"next", "nextjs", "next.js"}, []string{"next"}, []string{"next.config."}},
	{"Nuxt", ownBuild, []string{"nuxt", "nuxtjs"}, []string{"nuxt"}, []string{"nuxt.config."}},
	{"Astro", ownBuild, []string{"astro"}, []string{"astro"}, []string{"astro.config."}},
	{"Gatsby", ownBuild, []string{"gatsby"}, []string{"gatsby"}, []string{"gatsby-config."}},
	{"Remix", ownBuild, []string{"remix"}, []string{"@remix-run/react", "@react-router/dev"}, []string{"remix.config."}},
	{"SvelteKit", ownBuild, []string{"sveltekit"}, []string{"@sveltejs/kit"}, nil},
	{"Svelte", ownBuild, []string{"svelte"}, []string{"svelte"}, []string{"svelte.config."}},
	{"Vue", ownBuild, []string{"vue", "vuejs", "vue.js"}, []string{"vue"}, []string{"vue.config."}},
	{"Angular", ownBuild, []string{"angular"}, []string{"@angular/core"}, []string{"angular.json"}},
	{"Solid", ownBuild, []string{"solid", "solidjs"}, []string{"solid-js"}, nil},
	{"Qwik", ownBuild, []string{"qwik"}, []string{"@builder.io/qwik", "@qwik.dev/core"}, nil},
	{"Express", server, []string{"express", "expressjs"}, []string{"express"}, nil},
	{"Fastify", server, []string{"fastify"}, []string{"fastify"}, nil},
	{"NestJS", server, []string{"nest", "nestjs"}, []string{"@nestjs/core"}, []string{"nest-cli.json"}},
	{"Node.js", server, []string{"node", "nodejs", "node.js"}, []string{"koa", "@hapi/hapi", "hono"}, nil},
	{"Go", server, []string{"go", "golang"}, nil, []string{"go.mod"}},
	{"Python", server, []string{"python", "django", "flask", "fastapi"}, nil, []string{"requirements.txt",
		"pyproject.toml"}},
	{"PHP", server, []string{"php", "laravel"}, nil, []string{"composer.json"}},
	{"Ruby", server, []string{"ruby", "rails"}, nil, []string{"Gemfile"}},
	{"Java", server, []string{"java", "spring"}, nil, []string{"pom.xml", "build.gradle"}},
	{"Rust", server, []string{"rust"}, nil, []string{"Cargo.toml"}},
}

// check returns an error if the project uses a framework that cannot be built. Errors: *failure.Error.
func check(in Input) error {
	manifest, err := parsePackageJSON(in.Files[manifestPath])
	if err != nil {
		return err
	}
	if name := strings.ToLower(strings.TrimSpace(in.Framework)); name != "" && !setting.IsDeployable(name) {
		for _, f := range unsupported {
			if slices.Contains(f.settings, name) {
				return f.refuse("", "the project's framework is set to "+name+". "+changeSetting)
			}
		}
		return &failure.Error{Code: failure.FrameworkUnsupported, Message: fmt.Sprintf(
			"The project's framework is set to %s, but only static pages and React can be deployed. %s.", name, changeSetting)}
	}
	for _, f := range unsupported {
		// A project can have a page for browsers beside its server.
		if f.reason == server && hasEntry(in.Files) {
			continue
		}
		for _, name := range f.packages {
			if manifest.has(name) && f.isCompiled(in.Files) {
				return f.refuse("/package.json", fmt.Sprintf("%q is in its dependencies", name))
			}
		}
		if name := f.config(in.Files); name != "" {
			return f.refuse(name, "the project has the file "+name)
		}
	}
	return nil
}

// isCompiled reports whether a project that depends on the framework needs its compiler. Vue also works without one.
func (f framework) isCompiled(files map[string][]byte) bool {
	if f.name != "Vue" || f.config(files) != "" {
		return true
	}
	for name := range files {
		if strings.EqualFold(path.Ext(name), ".vue") {
			return true
		}
	}
	return false
}

func (f framework) refuse(file, evidence string) error {
	return &failure.Error{Code: failure.FrameworkUnsupported, Path: file, Message: fmt.Sprintf(
		"%s cannot be deployed here, because %s. This is a project of %s: %s. Static pages and React can be deployed. "+
			"You can also deploy exported pages: save them in a project with the framework static.",
		f.name, reasons[f.reason], f.name, evidence)}
}

// config returns the path of a configuration file of the framework in the root folder, or "".
func (f framework) config(files map[string][]byte) string {
	for _, prefix := range f.configs {
		if _, ok := files["/"+prefix]; ok {
			return "/" + prefix
		}
		if !strings.HasSuffix(prefix, ".") {
			continue
		}
		for _, ext := range []string{"js", "mjs", "cjs", "ts", "mts"} {
			if _, ok := files["/"+prefix+ext]; ok {
				return "/" + prefix + ext
			}
		}
	}
	return ""
}

// isApp reports whether the project is built, so that JavaScript outside of /public is source and not a static file.
func (p packageJSON) isApp(files map[string]int) bool {
	if p.has("react") || p.has("preact") || p.has("vite") {
		return true
	}
	for name := range files {
		if ext := path.Ext(name); (ext == ".jsx" || ext == ".tsx" || ext == ".ts") && strings.HasPrefix(name, "/src/") {
			return true
		}
	}
	return false
}

// hasEntry reports whether the project has a page or an entry for browsers.
func hasEntry[V any](files map[string]V) bool {
	for _, name := range []string{"/index.html", "/public/index.html"} {
		if _, ok := files[name]; ok {
			return true
		}
	}
	return sourceEntry(files) != ""
}
