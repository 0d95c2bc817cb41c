package component

import (
	"strings"
	"testing"
)

func TestSvelte(t *testing.T) {
	t.Parallel()
	compilers := start(t, files{}, map[string]any{"preserveComments": true, "unknown": 1.0})
	for _, c := range []struct {
		name, file, source string
		want               []string
	}{
		{"runes", "/a.svelte", `<script>let { n = 1 } = $props(); let d = $derived(n * 2)</script><b onclick={() => n++}>{d}</b>`,
			[]string{"js\n", `from 'svelte/internal/client'`, "$.prop(", "export default function A"}},
		{"version 4", "/b.svelte", `<script>export let n = 1; $: d = n * 2</script><b on:click={() => n++}>{d}</b><slot/>`,
			[]string{"$.legacy_pre_effect", "$.slot("}},
		{"TypeScript", "/c.svelte", `<script lang="ts">import type { T } from "./t"; let { n }: { n: T } = $props()</script>{n as any}`,
			[]string{"!import type", "!as any", "$$props.n"}},
		{"enum", "/d.svelte", "<script lang=\"ts\" module>\nexport enum E { A }\n</script><script lang='ts'>\n" +
			"import B from './B.svelte'; let a: E = $state(E.A)</script>{a}<B/>",
			[]string{"!enum", "E2[", "E.A", "import B from"}},
		{"scoped", "/e.svelte", "<p>a</p>\n<style>\np { a: b }\n@apply x;\n:global(q) { c: d }</style>",
			[]string{`import "./e.svelte?style-0"`, "style /e.svelte false: \n\np.svelte-", "{ a: b }\n@apply x;\nq { c: d }"}},
		{"module", "/f.svelte.js", "export const a = $state({})", []string{"$.proxy({})"}},
		{"module in TypeScript", "/g.svelte.ts", "export class A { n = $state<number>(0); constructor(public b: string) {} }",
			[]string{"$.state(0)", "this.b = b", "!number"}},
		{"options", "/h.svelte", "<!-- kept --><p>a</p>", []string{"<!-- kept -->"}},
		{"warning", "/i.svelte", "<script>\nlet a = 1;\nlet b = $state(1);\nlet c = b;</script><img src=x>{a}{c}",
			[]string{"/i.svelte:4:9: This reference only captures the initial value", "!alt"}},
		{"Sass", "/j.svelte", "<p/>\n<style lang=\"scss\">\np { b: $c }\n\n</style>\n{#if x}{/if}",
			[]string{"{ b: falsetrue }"}},
		{"package", "/node_modules/p/i.svelte", "<script>let b = $state(1); let c = b;</script>{c}",
			[]string{"!initial value"}},
	} {
		text, err := compileWith(compilers, c.file, c.source)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		wantParts(t, text, c.want...)
	}
}

func TestSvelteFailures(t *testing.T) {
	t.Parallel()
	compilers := start(t, files{}, nil)
	for _, c := range []struct{ file, source, place, part string }{
		{"/a.svelte", "<p>\n{#if x}\n</p>", "/a.svelte:3:1", "</p>"},
		{"/b.svelte", "<script>\nlet a = ;\n</script>", "/b.svelte:2:9", "Unexpected token"},
		{"/c.svelte", "<script>\nlet a = $state();\nexport let b</script>", "/c.svelte:3:1", "Cannot use `export let` in runes mode"},
		{"/d.svelte.ts", "export const a: = 1", "/d.svelte.ts:1:17", "Unexpected"},
		{"/e.svelte.ts", "type A = 1\n\n\nexport let a: A = $state(1)\na = 2", "/e.svelte.ts:4:8", "Cannot export state"},
		{"/f.svelte", "<p/>\n<script lang=ts>\nenum A { B }\n\n\nlet a = $state(A.B)\nexport let c\n</script>\n{a}",
			"/f.svelte:7:8", "export let"},
		{"/g.svelte", "<script lang=ts>\nenum A { B }\n\n\n\n\n\n\n\n\nlet a = $state(A.B)\n</script>\n\n<p bind:none={a}/>",
			"/g.svelte:14:4", "bind:none"},
		{"/i.svelte", "<p/>\n<style lang='scss'>a { b: $bad }</style>", "/i.svelte:2:1", "bad Sass"},
		{"/j.svelte", "<p/>\n<style type=text/less>a{}</style>", "/j.svelte:2:1", "Use CSS or Sass"},
		{"/k.svelte", "<style lang=sass>\na {}\n</style>\n{#if a}", "/k.svelte:4:1", "left open"},
		{"/l.svelte", "<p/>\n<script module lang=\"coffee\">\na = 1</script>", "/l.svelte:2:16", `lang="coffee"`},
		{"/m.svelte", "<template lang=pug>\np\n</template>", "/m.svelte:1:11", "need a preprocessor"},
		{"/h.svelte", "<style>\na {</style>", "/h.svelte:2:12", "."},
	} {
		_, err := compileWith(compilers, c.file, c.source)
		wantFailure(t, err, c.place, c.part)
	}
}

// A project with another version of Svelte is compiled with the compiler in its package, if it has one that runs.
func TestSvelteVersion(t *testing.T) {
	t.Parallel()
	const own = `(function (global, factory) {
		typeof exports === "object" && typeof module !== "undefined" ? factory(exports) : factory(global.svelte = {})
	})(this, function (exports) {
		exports.VERSION = "4.2.1"
		exports.compile = (source, options) => {
			if (source.includes("fail")) throw Object.assign(new Error("It is bad"), { start: { line: 1, column: 8 } })
			return { js: { code: JSON.stringify([source, options]) }, css: { code: null }, warnings: [] }
		}
	})`
	const source = `<script lang="ts">let a: number</script>`
	manifest := func(version string) string { return `{"version":"` + version + `"}` }
	for _, c := range []struct {
		all  files
		want []string
	}{
		{files{"/node_modules/svelte/compiler.cjs": own, "/node_modules/svelte/package.json": manifest("4.2.1")},
			[]string{`"generate":"dom"`, "let a;", "!number", "!runes", "compiler of the project, Svelte 4.2."}},
		{files{"/node_modules/svelte/compiler/index.js": own, "/node_modules/svelte/package.json": manifest("5.1.0")},
			[]string{"number", `"runes":true`, "compiler of the project, Svelte 5.1."}},
		{files{"/node_modules/svelte/compiler.cjs": "throw 1", "/node_modules/svelte/package.json": manifest("5.1.0")},
			[]string{"svelte/internal/client", "for Svelte 5.57, and the project uses Svelte 5.1."}},
		{files{"/node_modules/svelte/compiler.cjs": own, "/node_modules/svelte/package.json": manifest("5.57.9")},
			[]string{"svelte/internal/client", "!Components are"}},
	} {
		compilers := start(t, c.all, map[string]any{"runes": true})
		text, err := compileWith(compilers, "/a.svelte", source)
		if err != nil {
			t.Error(err)
		}
		wantParts(t, text, c.want...)
		const inPackage = "/node_modules/p/a.svelte" // of which the project does not know whether it uses runes
		if text, err = compileWith(compilers, inPackage, "<script>export let a</script>{a}"); err != nil {
			t.Error(err)
		}
		wantParts(t, text, "!runes")
		if strings.Contains(text, "dom") {
			_, err := compileWith(compilers, "/b.svelte", "<p>fail")
			wantFailure(t, err, "/b.svelte:1:9", "It is bad.")
		}
	}
}
