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
	Browserslist    any            `json:"browserslist"`
	PostCSS         any            `json:"postcss"`
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
		return p, failf(failure.BuildFailed, "The file is larger than the limit of 1 MiB. Make it smaller.").
			At(manifestPath, nil, 0)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, failf(failure.BuildFailed, "The file is not a valid package.json. It must be a JSON object whose "+
			"dependencies are objects.").At(manifestPath, nil, 0)
	}
	return p, nil
}

// The reasons why projects of a framework cannot be built.
const (
	ownBuild = "its build runs code of the project, and this service executes none"
	server   = "it needs a server, and sites only serve files"
)

// framework is a framework that cannot be built. Its lists of words are the values of the project's setting, the
// dependencies, and the files in the root folder that show that a project uses it. A file that ends with a dot has the
// extension of a script.
type framework struct{ name, reason, settings, packages, files string }

const changeSetting = "If the project is plain HTML or React, change the framework in its settings to static or react"

// unsupported are the known frameworks that cannot be built. Frameworks that use others come first.
var unsupported = []framework{
	{"Next.js", ownBuild, "next nextjs next.js", "next", "next.config."},
	{"Nuxt", ownBuild, "nuxt nuxtjs", "nuxt", "nuxt.config."},
	{"Astro", ownBuild, "astro", "astro", "astro.config."},
	{"Gatsby", ownBuild, "gatsby", "gatsby", "gatsby-config."},
	{"Remix", ownBuild, "remix", "@remix-run/react @react-router/dev", "remix.config."},
	{"SvelteKit", ownBuild, "sveltekit", "@sveltejs/kit", ""},
	{"Svelte", ownBuild, "svelte", "svelte", "svelte.config."},
	{"Vue", ownBuild, "vue vuejs vue.js", "vue", "vue.config."},
	{"Angular", ownBuild, "angular", "@angular/core", "angular.json"},
	{"Solid", ownBuild, "solid solidjs", "solid-js", ""},
	{"Qwik", ownBuild, "qwik", "@builder.io/qwik @qwik.dev/core", ""},
	{"Express", server, "express expressjs", "express", ""},
	{"Fastify", server, "fastify", "fastify", ""},
	{"NestJS", server, "nest nestjs", "@nestjs/core", "nest-cli.json"},
	{"Node.js", server, "node nodejs node.js", "koa @hapi/hapi hono", ""},
	{"Go", server, "go golang", "", "go.mod"},
	{"Python", server, "python django flask fastapi", "", "requirements.txt pyproject.toml"},
	{"PHP", server, "php laravel", "", "composer.json"},
	{"Ruby", server, "ruby rails", "", "Gemfile"},
	{"Java", server, "java spring", "", "pom.xml build.gradle"},
	{"Rust", server, "rust", "", "Cargo.toml"},
}

// check returns an error if the project uses a framework that cannot be built. Errors: *failure.Error.
func check(in Input) error {
	manifest, err := parsePackageJSON(in.Files[manifestPath])
	if err != nil {
		return err
	}
	name := strings.ToLower(strings.TrimSpace(in.Framework))
	for _, f := range unsupported {
		if file, evidence := f.evidence(in.Files, manifest, name); evidence != "" {
			return failIn(file, failure.FrameworkUnsupported, "%s cannot be deployed here, because %s. This is a project of "+
				"%s: %s. Static pages and React can be deployed. You can also deploy exported pages: save them in a project with "+
				"the framework static.", f.name, f.reason, f.name, evidence)
		}
	}
	if name != "" && !setting.IsDeployable(name) {
		return failf(failure.FrameworkUnsupported, "The project's framework is set to %s, but only static pages and React "+
			"can be deployed. %s.", name, changeSetting)
	}
	return nil
}

// evidence returns what shows that a project uses the framework, and the file in which it is, or "".
func (f framework) evidence(files map[string][]byte, manifest packageJSON, setting string) (file, evidence string) {
	if slices.Contains(strings.Fields(f.settings), setting) {
		return "", "the project's framework is set to " + setting + ". " + changeSetting
	}
	if f.reason == server && hasEntry(files) {
		return "", "" // a project can have a page for browsers beside its server
	}
	for prefix := range strings.FieldsSeq(f.files) {
		for _, ext := range []string{"", "js", "mjs", "cjs", "ts", "mts"} {
			name := "/" + prefix + ext
			if _, ok := files[name]; ok && strings.HasSuffix(prefix, ".") == (ext != "") {
				return name, "the project has the file " + name
			}
		}
	}
	for name := range strings.FieldsSeq(f.packages) {
		if manifest.has(name) && (f.name != "Vue" || hasComponents(files)) {
			return manifestPath, fmt.Sprintf("%q is in its dependencies", name)
		}
	}
	return "", ""
}

// hasComponents reports whether a project has components of Vue, which also works without them.
func hasComponents(files map[string][]byte) bool {
	for name := range files {
		if strings.EqualFold(path.Ext(name), ".vue") {
			return true
		}
	}
	return false
}

// isApp reports whether the project is built, so that JavaScript outside of /public is source and not a static file.
func (p packageJSON) isApp(files map[string]int) bool {
	if p.has("react") || p.has("preact") || p.has("vite") {
		return true
	}
	for name := range files {
		if strings.HasPrefix(name, "/src/") && needsTranspiling(name) {
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
