package component

import (
	"errors"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// Hostile components end as errors that name their file, or compile.
func TestHostile(t *testing.T) {
	t.Parallel()
	deep := func(begin, end string, n int) string { return strings.Repeat(begin, n) + strings.Repeat(end, n) }
	types := "<script setup lang=ts>\ntype A0 = { a: 1 }\n"
	for i := range 200 {
		types += strings.NewReplacer("N", string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10))).
			Replace("type BN = BN & BN; ")
	}
	for name, c := range map[string]struct{ file, source, want string }{
		"deep template":    {"/a.vue", "<template>" + deep("<p>", "</p>", 20_000) + "</template>", "nested too deeply"},
		"deep expression":  {"/a.vue", "<template>{{ " + deep("(", ")", 20_000) + " }}</template>", "nested too deeply"},
		"deep types":       {"/a.vue", "<script setup lang=ts>\ndefineProps<" + deep("Partial<", ">", 20_000) + ">()</script>", ""},
		"recursive types":  {"/a.vue", types + "defineProps<B199>()</script>", ""},
		"circular types":   {"/a.vue", "<script setup lang=ts>\ntype A = B; type B = A; defineProps<A>()</script>", "nested too deeply"},
		"deep style":       {"/a.vue", "<template/><style scoped>" + deep("a{", "}", 20_000) + "</style>", "nested too deeply"},
		"deep blocks":      {"/a.svelte", deep("{#if a}", "{/if}", 20_000), "nested too deeply"},
		"deep elements":    {"/a.svelte", deep("<p>", "</p>", 20_000), "nested too deeply"},
		"deep script":      {"/a.svelte.js", deep("(", ")", 20_000), "nested too deeply"},
		"deep style rules": {"/a.svelte", "<p/><style>" + deep("p{", "}", 20_000) + "</style>", "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := compileWith(start(t, files{}, nil), c.file, c.source)
			var f *failure.Error
			if !errors.As(err, &f) || f.Path != c.file || !strings.Contains(f.Message, c.want) {
				t.Errorf("got %v, want the error %q", err, c.want)
			}
		})
	}
}

// Names that mean something in JavaScript change nothing in the next component.
func TestPollution(t *testing.T) {
	t.Parallel()
	const vue = `<script setup lang="ts">const n = 1; defineProps<{ a: string }>()</script><template>{{ n }}</template>
		<style module>.a{}</style>`
	const svelte = "<script>let { n } = $props()</script><p>{n}</p><style>p{a:b}</style>"
	clean, dirty := start(t, files{}, nil), start(t, files{}, map[string]any{"__proto__": map[string]any{"runes": false}})
	for file, source := range map[string]string{
		"/x.vue": `<script setup lang="ts" __proto__="a" constructor="b">
			type __proto__ = { constructor: string }; interface P { __proto__: { polluted: 1 }; toString: string; hasOwnProperty: 1 }
			const { __proto__: polluted, hasOwnProperty } = defineProps<P & __proto__>()
			defineModel("__proto__"); defineModel("constructor")</script>
			<template __proto__="x"><p __proto__="y" :constructor="1"/></template>
			<style module="__proto__" __proto__="z">.__proto__{}</style><__proto__>a</__proto__>`,
		"/x.svelte": `<script>let { __proto__: p, constructor, ...hasOwnProperty } = $props(); let toString = $state({ __proto__: 1 })
			</script><p __proto__={p} bind:this={constructor}>{toString}</p><style>.__proto__{a:b}</style>`,
	} {
		_, err := compileWith(dirty, file, source)
		t.Logf("%s: %v", file, err) // an error is fine, too
	}
	for file, source := range map[string]string{"/a.vue": vue, "/a.svelte": svelte} {
		want, err := compileWith(clean, file, source)
		got, again := compileWith(dirty, file, source)
		if got != want || err != nil || again != nil {
			t.Errorf("got %s, %v\nwant %s, %v", got, again, want, err)
		}
	}
}
