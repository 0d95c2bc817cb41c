package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/project/path"
)

func TestEntryNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 125)
	for _, tc := range []struct {
		name string
		want map[string]string // the names by the paths
	}{
		{"safe names", map[string]string{
			"/a b/c.txt": "a b/c.txt", "/.env": ".env", "/日本語/é.md": "日本語/é.md", "/console": "console",
			"/aux-1": "aux-1", "/com10.txt": "com10.txt", "/...a": "...a", "/👩‍💻": "👩‍💻", "/~1": "~1", "/nul-": "nul-",
		}},
		{"devices", map[string]string{
			"/CON": "_CON", "/nul/x": "_nul/x", "/src/aux.txt": "src/_aux.txt", "/a/Com1": "a/_Com1",
			"/a/lpt².tar.gz": "a/_lpt².tar.gz", "/prn .txt": "_prn .txt", "/CONIN$": "_CONIN$",
		}},
		{"characters and ends", map[string]string{
			`/a<b>c"d|e?f*g`: "a_b_c_d_e_f_g", "/a:b": "a_b", "/C:/x": "C_/x", "/dot./x": "dot_/x", "/space ": "space_",
			"/..a..": "..a__", "/...": "___", "/nul.": "nul_",
		}},
		{"case", map[string]string{
			"/README.md": "README.md", "/Readme.md": "Readme-2.md", "/readme.md": "readme-4.md", "/readme-3.md": "readme-3.md",
		}},
		{"folders", map[string]string{
			"/SRC": "SRC", "/Src/a": "Src-2/a", "/src/A": "src-3/A", "/src/a": "src-3/a-2", "/b/src/a": "b/src/a",
		}},
		{"case folding and format characters", map[string]string{
			"/STRASSE": "STRASSE", "/straße": "straße-2", "/Σ": "Σ", "/ς": "ς-2", "/É": "É", "/é": "é-2",
			"/\u0645\u200c": "\u0645\u200c-2", "/\u0645": "\u0645",
		}},
		{"a safe name comes first", map[string]string{"/a*": "a_-2", "/a_": "a_", "/a_-3": "a_-3", "/a?": "a_-4"}},
		{"long names", map[string]string{
			"/" + long + ".jpeg": long[:244] + "-2.jpeg", "/" + strings.ToUpper(long) + ".jpeg": strings.ToUpper(long) + ".jpeg",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			paths := make([]string, 0, len(tc.want))
			for p := range tc.want {
				paths = append(paths, p)
			}
			slices.Sort(paths)
			names, err := newEntryNames(paths)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, p := range paths {
				got[p] = names.of(p)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// The list contains only the renamed files. Its name differs from the names of all files.
func TestListOfRenamedFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		paths          []string
		name, contents string
	}{
		{[]string{"/a", "/b"}, "RENAMED.txt", ""},
		{[]string{"/a", "/b?"}, "RENAMED.txt", "b?\tb_\n"},
		{[]string{"/RENAMED-2.TXT", "/renamed.txt", "/x/con"}, "RENAMED-3.txt", "x/con\tx/_con\n"},
		{[]string{"/RENAMED.txt/a:b"}, "RENAMED-2.txt", "RENAMED.txt/a:b\tRENAMED.txt/a_b\n"},
	} {
		names, err := newEntryNames(tc.paths)
		if err != nil || names.list != tc.contents || names.listName != tc.name {
			t.Errorf("%q: got %+v and the error %v, want the list %q in %s", tc.paths, names, err, tc.contents, tc.name)
		}
	}
}

// All names are safe, and no file system treats two of them as the same name.
func TestEntryNamesAreSafeAndUnique(t *testing.T) {
	t.Parallel()
	segment := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "A", "a_", "a-2", "A-2", "a?", "con", "CON ", "_con", "aux.x", "é", "É",
			"RENAMED.txt"}),
		rapid.StringMatching(`[aAbBßsS?:. -]{1,4}`),
		rapid.Map(rapid.StringMatching(`[xX]{3}`), func(s string) string { return strings.Repeat("y", 252) + s }),
	)
	unsafe := regexp.MustCompile(`[<>:"|?*\\\x00-\x1f]|[. ]$|(?i)^(con|aux) *(\.|$)`)
	rapid.Check(t, func(t *rapid.T) {
		var paths []string
		for _, segments := range rapid.SliceOfN(rapid.SliceOfN(segment, 1, 3), 1, 40).Draw(t, "paths") {
			p := "/" + strings.Join(segments, "/")
			isFree := path.Check(p) == "" && !slices.ContainsFunc(paths, func(other string) bool {
				return other == p || strings.HasPrefix(other, p+"/") || strings.HasPrefix(p, other+"/")
			})
			if isFree {
				paths = append(paths, p)
			}
		}
		slices.Sort(paths)
		names, err := newEntryNames(paths)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		all := append([]string{names.listName}, make([]string, 0, len(paths))...)
		for _, p := range paths {
			all = append(all, names.of(p))
		}
		for _, name := range all {
			var key []string
			for s := range strings.SplitSeq(name, "/") {
				key = append(key, nameKey(s))
				if unsafe.MatchString(s) || len(s) > path.MaxSegmentBytes || path.Check("/"+s) != "" {
					t.Fatalf("%q is not a safe name", name)
				}
			}
			if other, exists := seen[strings.Join(key, "/")]; exists {
				t.Fatalf("%q and %q can be the same file", name, other)
			}
			seen[strings.Join(key, "/")] = name
		}
		for a := range seen {
			for b := range seen {
				if strings.HasPrefix(b, a+"/") {
					t.Fatalf("%q is a file and a folder", seen[a])
				}
			}
		}
	})
}

// The names of the largest project are found without much work or memory, whatever the paths are.
func BenchmarkEntryNames(b *testing.B) {
	for name, pathOf := range map[string]func(i int) string{
		"deep":    func(i int) string { return fmt.Sprintf("/%04d%s", i, strings.Repeat("/a", 253)) },
		"renamed": func(i int) string { return fmt.Sprintf("/%04d%s", i, strings.Repeat("/:", 253)) },
		"case": func(i int) string {
			long := []byte(strings.Repeat("x", 255))
			for bit := range 13 {
				long[254-bit] -= byte(i>>bit&1) * ('x' - 'X')
			}
			return "/" + string(long)
		},
	} {
		b.Run(name, func(b *testing.B) {
			paths := make([]string, 5000)
			for i := range paths {
				paths[i] = pathOf(i)
			}
			slices.Sort(paths)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := newEntryNames(paths); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
