package path_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"devplatform/shared/project/path"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	segment := "/" + strings.Repeat("a", path.MaxSegmentBytes)
	longest := segment + segment
	for _, valid := range []string{
		"/a", "/src/app.ts", "/a b/c d.txt", "/#/C#.cs", "/.gitignore", "/...", "/..a", "/a..", "/Café/日本語.md", "/👩‍💻.txt",
		"/~!@$%^&*()_+`-={}[]|:\";'<>?,", longest, "/ ", "/\u2028", "/a/b/c/d/e/f/g",
	} {
		if rule := path.Check(valid); rule != "" {
			t.Errorf("Check(%q) = %q, want \"\"", valid, rule)
		}
	}
	for invalid, want := range map[string]string{
		"":                             "must not be empty",
		"a":                            "must begin with a slash",
		"a/b":                          "must begin with a slash",
		"./a":                          "must begin with a slash",
		"C:/a":                         "must begin with a slash",
		"/":                            "must not contain empty segments or end with a slash",
		"//":                           "must not contain empty segments or end with a slash",
		"//a":                          "must not contain empty segments or end with a slash",
		"/a//b":                        "must not contain empty segments or end with a slash",
		"/a/":                          "must not contain empty segments or end with a slash",
		"/.":                           "must not contain . or .. segments",
		"/..":                          "must not contain . or .. segments",
		"/a/../b":                      "must not contain . or .. segments",
		"/a/./b":                       "must not contain . or .. segments",
		"/../etc/passwd":               "must not contain . or .. segments",
		`/a\b`:                         "must not contain a backslash",
		`/..\a`:                        "must not contain a backslash",
		"/a\x00":                       "must not contain control characters",
		"/a\nb":                        "must not contain control characters",
		"/\x1b[31m":                    "must not contain control characters",
		"/a\x7f":                       "must not contain control characters",
		"/a\u0085b":                    "must not contain control characters",
		"/cafe\u0301":                  "must be in Unicode normal form C (NFC)",
		"/\u212b":                      "must be in Unicode normal form C (NFC)", // the Ångström sign
		"/\xff":                        "must be valid UTF-8",
		"/\xed\xa0\x80":                "must be valid UTF-8", // half of a surrogate pair
		longest + "a":                  "must be at most 512 bytes long",
		longest[:511] + "é":            "must be at most 512 bytes long",
		segment + "a":                  "must have at most 255 bytes (UTF-8) between two slashes",
		segment + "a/b":                "must have at most 255 bytes (UTF-8) between two slashes",
		"/b" + segment + "a":           "must have at most 255 bytes (UTF-8) between two slashes",
		"/" + strings.Repeat("é", 128): "must have at most 255 bytes (UTF-8) between two slashes",
	} {
		for _, rule := range []string{path.Check(invalid), path.CheckNew(invalid)} {
			if rule != want {
				t.Errorf("Check(%q) = %q, want %q", invalid, rule, want)
			}
		}
	}
}

// A new file must not have a path that looks like another one. A file that already has such a path can be read.
func TestCheckNew(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"/a\u200b.ts", "/invoice\u202egnp.exe", "/\u2028", "/a\u2029b", "/\ufeffa", "/so\u00adft"} {
		const want = "must not contain invisible or direction-changing characters"
		if existing, rule := path.Check(p), path.CheckNew(p); existing != "" || rule != want {
			t.Errorf("Check(%q) = %q and CheckNew = %q, want \"\" and %q", p, existing, rule, want)
		}
	}
	for _, p := range []string{"/👩‍💻.txt", "/می\u200cخواهم"} {
		if rule := path.CheckNew(p); rule != "" {
			t.Errorf("CheckNew(%q) = %q, want \"\"", p, rule)
		}
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	for p, want := range map[string][]string{
		"/a": nil, "/a/b": {"/a"}, "/a/b/c": {"/a", "/a/b"}, "/é/b": {"/é"},
	} {
		if diff := cmp.Diff(want, path.Ancestors(p)); diff != "" {
			t.Errorf("Ancestors(%q) mismatch (-want +got):\n%s", p, diff)
		}
	}
}

// A path is inside a folder if and only if the folder is one of its ancestors.
func TestAncestorsMatchInside(t *testing.T) {
	t.Parallel()
	segment := rapid.SampledFrom([]string{"a", "b", "ab", "a.b"})
	paths := rapid.Custom(func(t *rapid.T) string {
		return "/" + strings.Join(rapid.SliceOfN(segment, 1, 5).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := paths.Draw(t, "a"), paths.Draw(t, "b")
		isAncestor := false
		for _, folder := range path.Ancestors(a) {
			isAncestor = isAncestor || folder == b
			if path.Check(folder) != "" {
				t.Fatalf("ancestor %s of %s is not a valid path", folder, a)
			}
		}
		if inside := strings.HasPrefix(a, path.Inside(b)); inside != isAncestor {
			t.Fatalf("%s inside %s: %v, ancestor: %v", a, b, inside, isAncestor)
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"/a", "/a/../b", "//", "/\u0301", "/a\\b", "/cafe\u0301", "/é", "\xff", strings.Repeat("/a", 257),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if path.Check(p) != "" {
			return
		}
		if len(p) > path.MaxBytes || !utf8.ValidString(p) || !norm.NFC.IsNormalString(p) || p[0] != '/' {
			t.Errorf("Check accepted the invalid path %q", p)
		}
		for _, segment := range strings.Split(p[1:], "/") {
			if segment == "" || segment == "." || segment == ".." || len(segment) > path.MaxSegmentBytes {
				t.Errorf("%q has the segment %q", p, segment)
			}
		}
		if strings.ContainsFunc(p, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
			t.Errorf("%q has an invalid character", p)
		}
		if ancestors := path.Ancestors(p); len(ancestors) != strings.Count(p, "/")-1 {
			t.Errorf("%q has the ancestors %q", p, ancestors)
		}
	})
}
