package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImports(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range maxImports + 1 {
		fmt.Fprintf(&many, "import 'p%d';", i)
	}
	got := Imports(files(
		"/a.ts", "import a, { b } from\n \"a/sub\"; import '@s/b'; export * from `c`; import( 'd' ); require('e.js'); from'f'",
		"/b.js", "xfrom 'no'; $import 'no'; importer('no'); from ./no; import '/no'; import './no'; import '@no'; import ''",
		"/c.css", "@import \"g/styles.css\";", "/d.vue", "import 'h'", "/e.html", "<script>import 'i'</script>",
		"/f.json", "import 'no'", "/g.md", "import 'no'", "/node_modules/x/index.js", "import 'no'",
		"/s.css", "@import 'tailwindcss'; @plugin \"p\"; @plugin './no'; @config 'no'",
		"/tailwind.config.ts", "import { a } from 'tailwindcss/colors'; require('q'); import 'path'", "/postcss.config.js",
		"import 'postcss'", "/t.scss", "@use \"r/x\"; @forward 'pkg:u'; @import '~w/x'; @use 'sass:math'",
		"/h.js", "import"+strings.Repeat(" ", maxImport)+"'no'; // import",
	))
	want := map[string]bool{}
	for _, name := range strings.Fields("a @s/b c d e.js f g h i p q r sass u vue w") {
		want[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	all := Imports(files("/a.js", many.String()))
	if len(all) != maxImports {
		t.Errorf("got %d names of a large file, want %d", len(all), maxImports)
	}
}
