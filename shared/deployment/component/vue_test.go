package component

import "testing"

func TestVue(t *testing.T) {
	t.Parallel()
	compilers := start(t, files{
		"/src/types.ts":  `export interface Props { label: string; size?: number; other: import("./deep").Deep }`,
		"/src/deep.ts":   `export type Deep = "a" | "b"`,
		"/src/view.html": "<p>included</p>",
		"/src/view.css":  ".a { color: red }",
		"/src/Base.vue":  `<script lang="ts">export interface Base { base: boolean }</script><template/>`,
	}, nil)
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"setup": {`<script setup>import { ref } from "vue"; const n = ref(0)</script><template><b @click="n++">{{ n }}</b></template>`,
			[]string{"js\n", "n.value++", "export default _sfc_main", "!Object.assign"}},
		"TypeScript": {`<script setup lang="ts">const n = 1 as number; defineProps<{ a: string; b?: boolean }>()</script>
			<template>{{ (n as any).x! }}</template>`,
			[]string{"ts\n", "a: {}", "b: { type: Boolean }"}},
		"imported types": {`<script setup lang="ts">import type { Props } from "./types"; import type { Base } from "@/Base.vue"
			defineProps<Props & Base>()</script><template/>`,
			[]string{"label:", "size:", "other:", "base: { type: Boolean"}},
		"model": {`<script setup lang="ts">const m = defineModel<string>({ required: true })</script><template><input v-model="m"></template>`,
			[]string{"_useModel", `"modelValue"`}},
		"options": {`<script>export default { data: () => ({ a: 1 }) }</script><template>{{ a }}</template>`,
			[]string{"_ctx.a", "render: _sfc_render"}},
		"options in TypeScript": {`<script lang="ts">export default { data: () => ({ a: 1 as number }) }</script>
			<template>{{ (a as any) }}</template>`, []string{"ts\n", "render: _sfc_render"}},
		"only a template": {`<template><p>one</p></template>`, []string{"const _sfc_main = {}", "render: _sfc_render"}},
		"JSX":             {`<script lang="tsx">export default () => <p/></script>`, []string{"tsx\n"}},
		"two scripts": {`<script>export const named = 1</script><script setup>const b = named</script><template>{{ b }}</template>`,
			[]string{"export const named", "export default _sfc_main"}},
		"scoped": {"<template><p class=a /></template>\n<style scoped>\n.a :deep(.b) { c: d }\n@apply x;\n</style>",
			[]string{`__scopeId: "data-v-`, `import "./A.vue?style-0"`, "style /src/A.vue false: \n\n.a[data-v-",
				"] .b { c: d }\n@apply x;"}},
		"modules": {`<template><p :class="$style.a" /></template><style module>.a{}</style><style module="other">.b{}</style>`,
			[]string{`__cssModules: {"$style": _sfc_style0, "other": _sfc_style1}`, `import _sfc_style1 from "./A.vue?style-1"`,
				"style /src/A.vue true: .b{}"}},
		"v-bind": {`<script setup>const color = "red"</script><template><p/></template><style>p { color: v-bind(color) }</style>`,
			[]string{"_useCssVars", "color: var(--"}},
		"Sass": {"<template><p/></template><style scoped lang=scss>.a { b: $c }</style><style lang=sass module>.d { e: $c }</style>",
			[]string{"] { b: falsefalse }", "true: .d { e: truefalse }"}},
		"src": {`<script>export default { data: () => ({ color: "red" }) }</script><template src="./view.html"/><style scoped src="./view.css"/>`,
			[]string{"included", "style /src/view.css false: .a[data-v-"}},
		"script src": {`<script src="./a.js"></script><template><p/></template>`,
			[]string{`import _sfc_main from "./a.js"; export * from "./a.js";`, "render: _sfc_render"}},
		"assets": {`<template><img src="./a.png#x"><img src="/b.png"><img src="https://c/d.png"></template>`,
			[]string{`from './a.png'`, `from '/b.png'`, "!from 'https"}},
		"blocks": {`<template><p/></template><i18n lang="json">{}</i18n>`, []string{"The block <i18n> is ignored"}},
	} {
		delete(compilers.vue.files, "/src/A.vue") // otherwise the first result is returned
		text, err := compileWith(compilers, "/src/A.vue", c.source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantParts(t, text, c.want...)
	}
}

func TestVueVersion(t *testing.T) {
	t.Parallel()
	const source = "<template><p/></template>"
	for version, want := range map[string]string{
		"3.4.1": "for Vue 3.5, and the project uses Vue 3.4.", "3.5.1": "!Components are",
	} {
		all := files{"/a.vue": source, "/node_modules/vue/package.json": `{"version":"` + version + `"}`}
		text, err := compileWith(start(t, all, nil), "/a.vue", source)
		if err != nil {
			t.Fatal(err)
		}
		wantParts(t, text, want)
	}
}

func TestVueFailures(t *testing.T) {
	t.Parallel()
	compilers := start(t, files{"/src/bad.ts": "export interface Bad {\n a: }", "/.env": "SECRET"}, nil)
	for source, want := range map[string][2]string{
		"<template>\n  <p>\n</template>":                                        {"/a.vue:2:3", "missing end tag"},
		"<template>\n <p v-if>a</p>\n</template>":                               {"/a.vue:2:5", "v-if"},
		"<script setup>\n\nconst a = ;\n</script>":                              {"/a.vue:3:11", "Unexpected token"},
		"<script>\nconst b\n</script><script setup>\nlet x = 1; x =\n</script>": {"/a.vue:2:8", "Missing initializer"},
		"<script setup>\nconst a = 1\n</script>\n<template>\n<p>{{ a b }}</p>\n</template>": {
			"/a.vue:5:7", "expected"},
		"<script setup lang=ts>\nimport type { P } from './none'\ndefineProps<P>()\n</script>": {
			"/a.vue:3:13", `Failed to resolve import source "./none"`},
		"<script setup lang=ts>\nimport type { P } from './.env'\ndefineProps<P>()\n</script>": {
			"/a.vue:3:13", "Unresolvable type reference"},
		"<script setup lang=ts>\nimport type { P } from 'package'\ndefineProps<P>()\n</script>": {
			"/a.vue:3:13", `Types of packages, such as "package", are not available in builds. Copy the type`},
		"<script setup lang=ts>\nimport type { P } from '@/none'\ndefineProps<P>()\n</script>": {
			"/a.vue:3:13", `Failed to resolve import source "@/none"`},
		"<script setup lang=ts>\nimport type { Bad } from './src/bad'\ndefineProps<Bad>()\n</script>": {
			"/a.vue:0:0", "Unexpected token"},
		"<style lang=less>\n</style>\n<template/><style lang=less>a{}</style>": {"/a.vue:3:29", "Use CSS or Sass"},
		"<template/>\n<style scoped lang=scss>a\n{ b: $bad }</style>":          {"/a.vue:2:1", "bad Sass"},
		"<template lang=pug>\np\n</template>":                                  {"/a.vue:1:20", `lang="pug"`},
		"<script lang=coffee>\na\n</script>":                                   {"/a.vue:1:21", `lang="coffee"`},
		"<template src='./no.html'/>":                                          {"/a.vue:1:28", `"./no.html"`},
		"<template/>\n<style scoped>\n a { b: c\n</style>":                     {"/a.vue:3:2", "Unclosed block"},
		"<style>a{}</style>":                                                   {"/a.vue:0:0", "At least one"},
		"":                                                                     {"/a.vue:0:0", "At least one"},
	} {
		delete(compilers.vue.files, "/a.vue")
		_, err := compileWith(compilers, "/a.vue", source)
		wantFailure(t, err, want[0], want[1])
	}
}
