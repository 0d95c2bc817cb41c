package build

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
)

// withFiles returns a project with packages, which are in node_modules.
func withFiles(pairs ...string) sources {
	in := sources{Files: map[string][]byte{}, Packages: map[string][]byte{}}
	for name, data := range files(pairs...) {
		if strings.HasPrefix(name, "/node_modules/") {
			in.Packages[name] = data
		} else {
			in.Files[name] = data
		}
	}
	return in
}

// wantOutput checks that the files of an output contain each part, or do not contain it if it begins with "!".
func wantOutput(t *testing.T, in sources, parts ...string) {
	t.Helper()
	out := mustRun(t, in)
	var all strings.Builder
	for _, path := range slices.Sorted(maps.Keys(out)) {
		all.WriteString(path + ": " + out[path] + "\n")
	}
	for _, part := range parts {
		if without, isForbidden := strings.CutPrefix(part, "!"); strings.Contains(all.String(), without) == isForbidden {
			t.Errorf("want %q in:\n%s", part, all.String())
		}
	}
}

// Style sheets in Sass can be wherever style sheets in CSS can be, and load files as in Vite.
func TestSass(t *testing.T) {
	t.Parallel()
	in := withComponents("./A.vue", "/A.vue", `<script setup>import S from "./S.svelte"; import m from "./m.module.scss"
			import text from "./inline.scss?inline"; import "./plain.css"; import "p/styles.scss"
			const a = [S, m, text, import.meta.glob("./g/*.sass", { eager: true })]</script>
		<template><p :class="$style.local">{{ a }}</p></template>
		<style lang="scss" scoped>@use "@/theme"; .vue { .x { color: theme.$c; background: v-bind(a) } }</style>
		<style lang="sass" module>
.local
  color: $vite
</style>`,
		"/S.svelte", "<p class=svelte/><style lang='scss'>$w: 7px;\n\n.svelte { &:hover { width: $w } }</style>",
		"/m.module.scss", ".m { composes: o from './o.module.sass'; q { r: s } }", "/o.module.sass", ".o\n  composed: yes",
		"/inline.scss", "i { n { inline: $vite } }", "/g/a.sass", "g\n  glob: yes",
		"/plain.css", "@import 'tailwindcss/utilities'; @import './imported.scss'; @reference 'tailwindcss'; t { @apply p-4 }", "/imported.scss", "i { j { imported: $vite } }",
		"/src/_theme.scss", "@use 'bootstrap/scss/b'; @use '~q' as q; $c: b.$c; a { background: url(./i.png) }",
		"/src/i.png", "PNG", "/styles/_shared.scss", "$vite: vite;",
		"/vite.config.js", `export default { css: { preprocessorOptions: { scss: { loadPaths: ["./styles"],
			additionalData: '@use "shared" as *;' }, sass: { additionalData: '@use "shared" as *' } } } }`,
		"/node_modules/p/styles.scss", "@import 'q'; p { package: yes }",
		"/node_modules/q/package.json", `{"name":"q","exports":{".":{"sass":"./sass/main.scss","default":"./no.js"}}}`,
		"/node_modules/q/sass/main.scss", "q { background: url('./q.png') }", "/node_modules/q/sass/q.png", "QPNG",
		"/node_modules/bootstrap/scss/_b.scss", "@use 'var'; $c: var.$c",
		"/node_modules/bootstrap/scss/var.scss", "$c: #123;",
	)
	in.Files["/index.html"] = []byte(`<link rel=stylesheet href="/page.scss"><script type=module src="/main.js"></script>`)
	in.Files["/page.scss"] = []byte("body { p { page: $vite } }")
	wantOutput(t, in, ".vue .x[data-v-", "color:#123", "var(--", ".svelte-", ":hover{width:7px}", "composed:yes", "r:s",
		"inline:vite", "glob:yes", "imported:vite", "padding:calc(", "package:yes", "page:vite", "color:vite",
		`url("/assets/i-`, `url("/assets/q-`, ": QPNG", "!.scss", "!$vite")
}

// Errors have their places in Sass and not in the CSS. A package cannot read files of the project.
func TestSassErrors(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	pkg := func(text string) []string {
		return []string{"/main.js", `import "p/a.scss"`, "/src/b.scss", "b { secret: yes }", "/node_modules/p/a.scss", text}
	}
	for name, c := range map[string]struct {
		files []string
		want  failure.Error
	}{
		"Sass": {[]string{"/main.js", `import "./a.scss"`, "/a.scss", "$a: 1;\n\nb { c: $d }"},
			failure.Error{Message: "Undefined variable.", Path: "/a.scss", Line: 3, Column: 8}},
		"bundler": {[]string{"/main.js", `import "./a.scss"`, "/a.scss", "$a: 1;\n\nb { c: $a }\n@import './no.css';"},
			failure.Error{Message: "/no.css does not exist", Path: "/a.scss", Line: 4, Column: 9}},
		"no package": {[]string{"/main.js", `import "./a.scss"`, "/a.scss", "\n@use 'bootstrap/scss/b';"},
			failure.Error{Message: "or add the package to dependencies", Path: "/a.scss", Line: 2, Column: 1}},
		"no name": {[]string{"/main.js", `import "./a.scss"`, "/a.scss", "\n@use 'pkg:' as x;"},
			failure.Error{Code: failure.DependencyNotFound, Message: `"" is not installed`, Path: "/a.scss", Line: 2,
				Column: 1}},
		"relative path of a package": {pkg("\n@use '../../src/b';"),
			failure.Error{Message: "does not exist", Path: "/node_modules/p/a.scss", Line: 2, Column: 1}},
		"absolute path of a package": {pkg("@use '/src/b';"),
			failure.Error{Message: "refers to files outside of packages", Path: "/node_modules/p/a.scss", Line: 1, Column: 1}},
		"alias in a package": {pkg("@use '@/b';"),
			failure.Error{Code: failure.DependencyNotFound, Message: `"@/b" is not installed`, Path: "/node_modules/p/a.scss",
				Line: 1, Column: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := withFiles(append(c.files, "/index.html", `<script type=module src="/main.js"></script>`)...)
			c.want.Code = cmp.Or(c.want.Code, failure.BuildFailed)
			wantFailure(t, in, c.want)
		})
	}
}
