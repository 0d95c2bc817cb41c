package build

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// fakeRuntimes are packages with the exports of Vue and Svelte that the components of the tests use.
func fakeRuntimes() map[string][]byte {
	return files(
		"/node_modules/vue/package.json", `{"name":"vue","version":"3.5.1","exports":{".":{"import":"./index.mjs",
			"require":"./no.js"}}}`,
		"/node_modules/vue/index.mjs", `export const toDisplayString = (v) => "runtime" + v, openBlock = () => {},
			createElementBlock = (...a) => a, createElementVNode = (...a) => a, createVNode = (...a) => a,
			createTextVNode = (...a) => a, unref = (v) => v, useCssVars = () => {},
			normalizeClass = (v) => v, defineComponent = (v) => v`,
		"/node_modules/svelte/package.json", `{"name":"svelte","version":"5.57.3","sideEffects":false,"exports":{
			"./internal/client":"./client.js","./internal/disclose-version":"./empty.js","./internal/flags/*":"./empty.js"}}`,
		"/node_modules/svelte/client.js", `const f = (...a) => a; export { f as from_html, f as append, f as child, f as reset,
			f as template_effect, f as set_text, f as push, f as pop, f as prop, f as proxy, f as state, f as get, f as text,
			f as first_child, f as sibling, f as comment, f as append_styles }`,
		"/node_modules/svelte/empty.js", "",
	)
}

// withComponents returns a project with an entry that imports a component.
func withComponents(component string, pairs ...string) sources {
	in := withPage(nil, fakeRuntimes())
	for name, data := range files(append(pairs, "/main.js", `import A from "`+component+`"; document.title = A`,
		"/package.json", `{"dependencies":{"vue":"3","svelte":"5"}}`)...) {
		if strings.HasPrefix(name, "/node_modules/") {
			in.Packages[name] = data
		} else {
			in.Files[name] = data
		}
	}
	return in
}

func TestComponents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   sources
		want []string // parts of the output
	}{
		"vue": {withComponents("./src/A.vue", "/src/A.vue", `<script setup lang="ts">import B from "@/B.vue"
				import type { T } from "./t"; defineProps<T>(); enum E { X = 71 }</script>
			<template><p class="c">{{ E.X }}<B/><img src="./i.png"></p></template>
			<style scoped>.c { color: red; background: url(./i.png) }</style>`,
			"/src/B.vue", `<template><b :class="$style.local">b</b></template><style module>.local { composes: other from "./o.module.css"; d: e }</style>`,
			"/src/o.module.css", ".other { f: g }", "/src/i.png", "PNG", "/src/t.ts", "export interface T { fromFile: string }"),
			[]string{"runtime", "71", "fromFile", `[data-v-`, "color:red", `url("/assets/i-`,
				"f:g", "d:e", "!.vue", "!lang", ": PNG"}},
		"svelte": {withComponents("./src/A.svelte", "/src/A.svelte", `<script lang="ts">
			import { s } from "./s.svelte.js"; import P from "p";
			let n: number = 1</script><p class="c">{n}{s}<P/></p><style>.c { color: red }</style>`,
			"/src/s.svelte.ts", "export const s: number[] = $state([81])", "/node_modules/p/package.json",
			`{"exports":{".":{"svelte":"./P.svelte"}}}`, "/node_modules/p/P.svelte", "<q>from a package</q>"),
			[]string{"81", "from a package", "color:red", ".c.svelte-"}},
		"raw": {withComponents("./A.vue?raw", "/A.vue", "<template>it's raw</template>"),
			[]string{"<template>it's raw</template>"}},
		"glob": {withComponents("./all.js", "/all.js", `export default import.meta.glob("./*.vue")`, "/A.vue", "<template>A1</template>", "/B.vue", "<template>B1</template>"), []string{"A1", "B1", "./A.vue"}},
		"import.meta in a component": {withComponents("./A.vue", "/A.vue", `<script setup>const a = import.meta.env.MODE + new URL("./i.png", import.meta.url)</script><template>{{ a }}</template>`, "/i.png", "PNG"),
			[]string{"production", "/assets/i-"}},
		"required by a package": {withComponents("./A.vue", "/A.vue", `<script setup>import "p"; const a = 1</script>
			<template>{{ a }}</template>`,
			"/node_modules/p/index.js", `exports.a = require("vue").unref`), []string{"runtime"}},
		"unused": {withComponents("./all.js", "/all.js", `export { default as A } from "./A.vue"; export { default as B } from "./B.vue"; export default 1`,
			"/A.vue", "<template>AAA</template><style scoped></style>", "/B.vue",
			"<script>export default {}</script><template>BBB</template>"), []string{"!AAA", "!BBB"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOutput(t, c.in, c.want...)
		})
	}
}

// Errors and warnings have their places in the component and not in its compiled code.
func TestComponentPlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   sources
		want failure.Error
	}{
		"syntax": {withComponents("./A.vue", "/A.vue", "<template>\n <p v-if>a</p></template>"),
			failure.Error{Code: failure.BuildFailed, Message: "v-if", Path: "/A.vue", Line: 2, Column: 5}},
		"import of Vue": {withComponents("./A.vue", "/A.vue",
			"<template><p/></template>\n<script setup>\nimport B from './B.vue'\n</script>"),
			failure.Error{Code: failure.BuildFailed, Message: "/B.vue does not exist", Path: "/A.vue", Line: 3, Column: 15}},
		"import of Svelte": {withComponents("./A.svelte", "/A.svelte",
			"<p>a</p>\n\n<script>\n  import B from \"./B.svelte\"\n</script>\n<B/>"),
			failure.Error{Code: failure.BuildFailed, Message: "/B.svelte does not exist",
				Path: "/A.svelte", Line: 4, Column: 17}},
		"module of SvelteKit": {withComponents("./A.svelte", "/A.svelte",
			"<script>\nimport { page } from '$app/state'\n</script>{page}"),
			failure.Error{Code: failure.FrameworkUnsupported, Message: `"$app/state" is a module of SvelteKit`,
				Path: "/A.svelte", Line: 2, Column: 22}},
		"alias": {withComponents("./A.svelte", "/A.svelte", "<script>\nimport a from '$lib/a'\n</script>{a}"),
			failure.Error{Code: failure.DependencyNotFound, Message: "If it is an alias",
				Path: "/A.svelte", Line: 2, Column: 15}},
		"glob": {withComponents("./A.vue", "/A.vue", "<template><p/></template>\n<script setup>\nconst a = import.meta.glob(b)\n</script>"),
			failure.Error{Code: failure.BuildFailed, Message: "import.meta.glob", Path: "/A.vue", Line: 3, Column: 11}},
		"style": {withComponents("./A.vue", "/A.vue",
			"<template><p/></template>\n\n<style scoped>\n@import './no.css';</style>"),
			failure.Error{Code: failure.BuildFailed, Message: "/no.css does not exist", Path: "/A.vue", Line: 4, Column: 9}},
		"secret": {withComponents("./A.vue", "/A.vue", "<template/>\n<style src='./package.json'/>"),
			failure.Error{Code: failure.BuildFailed, Message: "does not exist", Path: "/A.vue", Line: 2, Column: 30}},
		"package reads the project": {withComponents("p", "/a.css", "", "/node_modules/p/index.js", `import "./P.vue"`,
			"/node_modules/p/P.vue", "<template/><style scoped src='../../a.css'/>"),
			failure.Error{Code: failure.BuildFailed, Message: "does not exist",
				Path: "/node_modules/p/P.vue", Line: 1, Column: 45}},
		"no such style": {withComponents("./A.vue?style-3", "/A.vue", "<template/>"),
			failure.Error{Code: failure.BuildFailed, Message: "no style sheet", Path: "/main.js", Line: 1, Column: 15}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, c.in, c.want)
		})
	}
}

// Of a package of icons, only the components whose names the project contains are compiled.
func TestBarrel(t *testing.T) {
	t.Parallel()
	var index strings.Builder
	in := withComponents("./A.svelte", "/A.svelte", `<script>import { Icon7 as I } from "icons"</script><I/>`,
		"/node_modules/icons/package.json", `{"sideEffects":false,"svelte":"index.js"}`,
		"/node_modules/icons/used.svelte", "<b>used</b>", "/node_modules/icons/other.svelte", "{#if")
	for _, name := range strings.Fields("1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22") {
		index.WriteString("export { /** old */ default as Icon" + name + " } from './other.svelte';\n")
	}
	in.Packages["/node_modules/icons/index.js"] = []byte(index.String() +
		"export { default as Icon7 } from './used.svelte'")
	out := mustRun(t, in)
	if !slices.ContainsFunc(slices.Collect(maps.Values(out)), func(s string) bool { return strings.Contains(s, "used") }) {
		t.Errorf("got %v", out)
	}
	broken := failure.Error{Code: failure.BuildFailed, Path: "/node_modules/icons/other.svelte", Line: 1, Column: 5}
	for name, text := range map[string]string{
		"/node_modules/icons/package.json": `{"svelte":"index.js"}`,
		"/node_modules/q/package.json":     `{"peerDependencies":{"icons":"1"}}`,
		"/b.js":                            `import * as all from "icons"`,
	} {
		before, existed := in.Packages[name]
		in.Packages[name] = []byte(text)
		if !strings.HasPrefix(name, "/node_modules") {
			delete(in.Packages, name)
			in.Files[name] = []byte(text)
		}
		wantFailure(t, in, broken)
		delete(in.Files, name)
		if delete(in.Packages, name); existed {
			in.Packages[name] = before
		}
	}
}
