package build

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
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

// majorVersion matches a range of versions that has only one major version. Its group is this version.
var majorVersion = regexp.MustCompile(`^\s*[\^~=v]*(\d)(?:\.[\w.*+-]*)?\s*$`)

// version returns the major version of a dependency, or "" if the manifest allows several.
func (p packageJSON) version(name string) string {
	for _, all := range []map[string]any{p.Dependencies, p.DevDependencies} {
		text, _ := all[name].(string)
		if m := majorVersion.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

const (
	manifestPath     = "/package.json"
	maxManifestBytes = 1 << 20
)

// parsePackageJSON returns the project's /package.json, or an empty value if there is none. Errors: *failure.Error.
func parsePackageJSON(data []byte) (packageJSON, error) {
	var p packageJSON
	if data = trimBOM(data); data == nil {
		return p, nil
	}
	if len(data) > maxManifestBytes {
		return p, failf(failure.BuildFailed, "The file is larger than the limit of 1 MiB. Make it smaller.").
			At(manifestPath, nil, 0)
	}
	if err := json.Unmarshal(data, &p, tree.JSON); err != nil {
		return p, failf(failure.BuildFailed, "The file is not a valid package.json. It must be a JSON object whose "+
			"dependencies are objects.").At(manifestPath, nil, 0)
	}
	return p, nil
}

// The reasons why projects of a framework cannot be built.
const (
	reasonCode   = "its build runs code of the project, and this service executes none"
	reasonServer = "it needs a server, and sites only serve files"
)

// framework is a framework that cannot be built. settings, packages and files are lists of words: values of the
// project's setting, dependencies, and files in the root folder. Each word shows that a project uses the framework. A
// file that ends with a dot has the extension of a script.
type framework struct{ name, reason, settings, packages, files string }

const changeSetting = "If the project is plain HTML, React, Vue or Svelte, change the framework in its settings to " +
	"static, react, vue or svelte"

// unsupportedFrameworks are the known frameworks that cannot be built. A framework precedes the ones that it uses.
var unsupportedFrameworks = []framework{
	{"Next.js", reasonCode, "next nextjs next.js", "next", "next.config."},
	{"Nuxt", reasonCode, "nuxt nuxtjs", "nuxt", "nuxt.config."},
	{"Astro", reasonCode, "astro", "astro", "astro.config."},
	{"Gatsby", reasonCode, "gatsby", "gatsby", "gatsby-config."},
	{"Remix", reasonCode, "remix", "@remix-run/react @react-router/dev", "remix.config."},
	{"SvelteKit", reasonCode, "sveltekit", "@sveltejs/kit", ""},
	{"Vue CLI", reasonCode, "", "@vue/cli-service", "vue.config."},
	{"Angular", reasonCode, "angular", "@angular/core", "angular.json"},
	{"Solid", reasonCode, "solid solidjs", "solid-js", ""},
	{"Qwik", reasonCode, "qwik", "@builder.io/qwik @qwik.dev/core", ""},
	{"Express", reasonServer, "express expressjs", "express", ""},
	{"Fastify", reasonServer, "fastify", "fastify", ""},
	{"NestJS", reasonServer, "nest nestjs", "@nestjs/core", "nest-cli.json"},
	{"Node.js", reasonServer, "node nodejs node.js", "koa @hapi/hapi hono", ""},
	{"Go", reasonServer, "go golang", "", "go.mod"},
	{"Python", reasonServer, "python django flask fastapi", "", "requirements.txt pyproject.toml"},
	{"PHP", reasonServer, "php laravel", "", "composer.json"},
	{"Ruby", reasonServer, "ruby rails", "", "Gemfile"},
	{"Java", reasonServer, "java spring", "", "pom.xml build.gradle"},
	{"Rust", reasonServer, "rust", "", "Cargo.toml"},
}

// checkFramework returns an error if the project uses a framework that cannot be built. Errors: *failure.Error.
func checkFramework(in Input) error {
	manifest, err := parsePackageJSON(in.Files[manifestPath])
	if err != nil {
		return err
	}
	name := strings.ToLower(strings.TrimSpace(in.Framework))
	for _, f := range unsupportedFrameworks {
		if file, evidence := f.evidence(in.Files, manifest, name); evidence != "" {
			return failIn(file, failure.FrameworkUnsupported, "%s cannot be deployed here, because %s. This is a project of "+
				"%s: %s. Ask your builder for a single-page app with Vite and %s instead, or save exported pages in a project "+
				"with the framework static.", f.name, f.reason, f.name, evidence, f.instead())
		}
	}
	for _, f := range []struct{ name, dependency, oldest string }{{"Vue", "vue", "3"}, {"Svelte", "svelte", "4"}} {
		if version := manifest.version(f.dependency); version != "" && version < f.oldest && hasComponents(in.Files) {
			return failIn(manifestPath, failure.FrameworkUnsupported, "The project uses %s %s, and components can be deployed "+
				"with %s %s or later. Ask your builder to upgrade it.", f.name, version, f.name, f.oldest)
		}
	}
	if name != "" && !setting.IsDeployable(name) {
		return failf(failure.FrameworkUnsupported, "The project's framework is set to %s, but only static pages, React, "+
			"Vue and Svelte can be deployed. %s.", name, changeSetting)
	}
	return nil
}

// evidence returns the evidence that a project uses the framework, or "", and the file that contains it.
func (f framework) evidence(files map[string][]byte, manifest packageJSON, inSettings string) (file, evidence string) {
	if slices.Contains(strings.Fields(f.settings), inSettings) {
		return "", "the project's framework is set to " + inSettings + ". " + changeSetting
	}
	if f.reason == reasonServer && hasEntry(files) {
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
		if manifest.has(name) {
			return manifestPath, fmt.Sprintf("%q is in its dependencies", name)
		}
	}
	return "", ""
}

// instead returns the most similar framework that can be deployed.
func (f framework) instead() string {
	switch f.name {
	case "Nuxt", "Vue CLI":
		return "Vue"
	case "SvelteKit":
		return "Svelte"
	}
	return "React"
}

// hasComponents reports whether a project has components of Vue or Svelte. Vue also works without them.
func hasComponents(files map[string][]byte) bool {
	for name := range files {
		if component.IsComponent(name) {
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
		if component.IsComponent(name) || strings.HasPrefix(name, "/src/") && needsTranspiling(name) {
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
