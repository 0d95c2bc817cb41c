package build

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
)

// maxHostileTime is the maximum processor time of a build: the limit of its compiler, and as much for its other steps.
const maxHostileTime = 2 * maxEngineTime

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Hostile input of each compiler ends as an error or as an output, in limited processor time, and changes nothing in
// the next build of this process. The test is not parallel, so that it measures no other test.
func TestHostileCompilers(t *testing.T) {
	testmode.SkipIfShort(t)
	if testmode.HasRaceDetector {
		t.Skip("the race detector multiplies the processor time")
	}
	repeat := strings.Repeat
	page := func(pairs ...string) sources {
		return sources{Framework: "static", Files: files(append(pairs, "/index.html", "<link rel=stylesheet href=a.css>"+
			"<link rel=stylesheet href=b.scss><p class=flex>")...)}
	}
	tailwind3 := func(config string) sources {
		return page("/package.json", uses3, "/b.scss", "", "/a.css", "@tailwind utilities", "/tailwind.config.js", config)
	}
	tailwind4 := func(css, plugin string) sources {
		return page("/b.scss", "", "/a.css", `@import "tailwindcss"; @plugin "./p.js";`+css, "/p.js", plugin)
	}
	scss := func(code string) sources { return page("/a.css", "", "/b.scss", code) }
	component := func(file, code string) sources { return withComponents(file, file, code) }
	const pollution = "Object.prototype.color = 'red'; Array.prototype.map = JSON.parse = null;"
	ordinary := map[string]sources{
		"tailwind3": tailwind3("module.exports = { content: ['*.html'] }"),
		"tailwind4": tailwind4("", "export default () => {}"),
		"sass":      scss("$c: red; a { b: $c }"), "vue": component("/a.vue", "<template><p>a</p></template>"),
		"svelte": component("/a.svelte", "<p>a</p>"),
	}
	outputs := func() map[string]string {
		all := map[string]string{}
		for name, in := range ordinary {
			all[name] = fmt.Sprint(mustRun(t, in))
		}
		return all
	}
	before := outputs()
	for _, c := range []struct {
		name     string
		in       sources
		want     string // a part of the message, or "" if the build may succeed
		isLong   bool   // only in the long form of the test
		compiler string
	}{
		{"loop", tailwind3("for (;;);"), "10 seconds", true, "tailwind3"},
		{"backtracking", tailwind3("/^(a+)+$/.test('a'.repeat(99) + 'b')"), "10 seconds", true, "tailwind3"},
		{"pollution", tailwind3(pollution + "module.exports = { content: ['*.html'] }"), "", false, "tailwind3"},
		{"plugins", tailwind3("module.exports = { plugins: Array.from({ length: 5000 }, () => () => {}) }"), "",
			true, "tailwind3"},
		{"alternatives", tailwind3("module.exports = { content: ['" + repeat("{a,a}", 60) + "b'] }"), "",
			true, "tailwind3"},
		{"loop", tailwind4("", "for (;;);"), "10 seconds", true, "tailwind4"},
		{"memory", tailwind4("", "for (const all = [];;) all.push(new Uint8Array(1 << 20))"), "256 MiB",
			true, "tailwind4"},
		{"recursion", tailwind4("", "const f = () => f(); f()"), "nested too deeply", true, "tailwind4"},
		{"pollution", tailwind4("", pollution+"export default () => {}"), "", false, "tailwind4"},
		{"plugins", tailwind4(repeat(`@plugin "./p.js";`, 5000), "export default () => {}"), "", true, "tailwind4"},
		{"deep rules", tailwind4(repeat("a{", 5000)+repeat("}", 5000), "export default () => {}"), "", true, "tailwind4"},
		{"alternatives", tailwind4(`@source "./`+repeat("{a,a}", 60)+`b";`, "export default () => {}"), "",
			false, "tailwind4"},
		{"loop", scss("@while true {}"), "takes too long", true, "sass"},
		{"memory", scss("$a: 'aaaaaaaa'; @for $i from 1 through 40 { $a: $a + $a !global } a { b: $a }"), "",
			false, "sass"},
		{"recursion", scss("@mixin m { @include m } a { @include m }"), "nested too deeply", false, "sass"},
		{"deep rules", scss(repeat("a{", 5000) + repeat("}", 5000)), "nested too deeply", true, "sass"},
		{"deep template", component("/a.vue", "<template>"+repeat("<p>", 3000)+"</template>"), "", true, "vue"},
		{"deep expression", component("/a.vue", "<template>{{ "+repeat("(", 20_000)+" }}</template>"), "nested too deeply",
			false, "vue"},
		{"deep blocks", component("/a.svelte", repeat("{#if a}", 20_000)+repeat("{/if}", 20_000)), "nested too deeply",
			true, "svelte"},
		{"deep script", component("/a.svelte", "<script>"+repeat("(", 20_000)+"</script>"), "nested too deeply",
			false, "svelte"},
	} {
		t.Run(c.compiler+" "+c.name, func(t *testing.T) {
			if c.isLong {
				testmode.SkipIfNotNightly(t)
			}
			start := processorTime(t)
			_, err := run(t, c.in)
			used := processorTime(t) - start
			t.Logf("%v: %.200v", used, err)
			f, _ := errors.AsType[*failure.Error](err)
			if err != nil && f == nil || c.want != "" && (f == nil || !strings.Contains(f.Message, c.want)) {
				t.Errorf("got %.300v, want %q", err, c.want)
			}
			if used > maxHostileTime {
				t.Errorf("used %v of processor time", used)
			}
			if got := fmt.Sprint(mustRun(t, ordinary[c.compiler])); got != before[c.compiler] {
				t.Errorf("the next build is %s\nwant %s", got, before[c.compiler])
			}
		})
	}
}
