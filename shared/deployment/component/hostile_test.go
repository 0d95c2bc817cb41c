package component

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
)

// The compilers reject hostile components with errors that name the file.
func TestHostile(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	deep := func(begin, end string, n int) string { return strings.Repeat(begin, n) + strings.Repeat(end, n) }
	doubled := "<script setup lang=ts>\ntype A0 = { a: 1 };"
	for i := range 100 {
		doubled += fmt.Sprintf("type A%d = A%d & A%d;", i+1, i, i)
	}
	for name, c := range map[string]struct{ file, source, want string }{
		"deep template":   {"/a.vue", "<template>" + deep("<p>", "</p>", 3000) + "</template>", "nested too deeply"},
		"deep expression": {"/a.vue", "<template>{{ " + deep("(", ")", 20_000) + " }}</template>", "nested too deeply"},
		"deep types": {"/a.vue", "<script setup lang=ts>\ndefineProps<" +
			deep("Partial<", ">", 20_000) + ">()</script>", ""},
		"doubled types": {"/a.vue", doubled + "defineProps<A100>()</script>", "takes too long"},
		"circular types": {"/a.vue", "<script setup lang=ts>\ntype A = B; type B = A; defineProps<A>()</script>",
			"nested too deeply"},
		"deep style":       {"/a.vue", "<template/><style scoped>" + deep("a{", "}", 3000) + "</style>", "takes too long"},
		"deep blocks":      {"/a.svelte", deep("{#if a}", "{/if}", 20_000), "nested too deeply"},
		"deep elements":    {"/a.svelte", deep("<i>", "</i>", 3000), "nested too deeply"},
		"deep script":      {"/a.svelte.js", deep("(", ")", 20_000), "nested too deeply"},
		"deep style rules": {"/a.svelte", "<p/><style>" + deep("p{", "}", 20_000) + "</style>", "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compilers := start(t, files{}, nil)
			if c.want == "takes too long" {
				compilers.vue.limit = time.Second
			}
			_, err := compileWith(compilers, c.file, c.source)
			if f, ok := errors.AsType[*failure.Error](err); !ok || f.Path != c.file || !strings.Contains(f.Message, c.want) {
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
			type __proto__ = { constructor: string }
			interface P { __proto__: { polluted: 1 }; toString: string; hasOwnProperty: 1 }
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
		got, dirtyErr := compileWith(dirty, file, source)
		if got != want || err != nil || dirtyErr != nil {
			t.Errorf("got %s, %v\nwant %s, %v", got, dirtyErr, want, err)
		}
	}
}
