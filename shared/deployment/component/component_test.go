package component

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
)

// files are the files of a project by path.
type files map[string]string

func (f files) Source(file string) ([]byte, bool) {
	text, ok := f[file]
	return []byte(text), ok && file != "/.env"
}

func (f files) Resolve(importer, spec string) string {
	file := path.Join(path.Dir(importer), spec)
	if name, ok := strings.CutPrefix(spec, "@/"); ok {
		file = "/src/" + name
	}
	for _, suffix := range []string{"", ".ts"} {
		if _, ok := f[file+suffix]; ok {
			return file + suffix
		}
	}
	return ""
}

// Sass replaces a variable, and knows one error.
func (files) Sass(s sass.Sheet) (string, error) {
	if strings.Contains(s.Text, "$bad") {
		return "", &failure.Error{Code: failure.BuildFailed, Message: "bad Sass.", Path: s.File, Line: s.Line, Column: 1}
	}
	return strings.ReplaceAll(s.Text, "$c", fmt.Sprintf("%t%t", s.IsIndented, s.IsCompressed)), nil
}

func (f files) Package(file string) []byte {
	if text, ok := f[file]; ok {
		return []byte(text)
	}
	return nil
}

// compileWith compiles a file, and returns everything that the compiler returned as one text.
func compileWith(c *Compilers, file, source string) (string, error) {
	out, err := c.Compile(file, []byte(source))
	if err != nil {
		return "", err
	}
	text := out.Lang + "\n" + out.Code
	for _, s := range out.Styles {
		text += fmt.Sprintf("\nstyle %s %t: %s", s.File, s.IsModule, s.Code)
	}
	return text + "\n" + strings.Join(out.Notes, "\n") + "\n" + strings.Join(out.Warnings, "\n"), nil
}

// start returns the compilers of a project, which start only when they are needed.
func start(t *testing.T, all files, options map[string]any) *Compilers {
	t.Helper()
	c := New(all, options)
	t.Cleanup(c.Close)
	return c
}

// wantParts checks that a text has each of several parts. A part that begins with "!" must be missing.
func wantParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if without, isForbidden := strings.CutPrefix(part, "!"); strings.Contains(text, without) == isForbidden {
			t.Errorf("want %q in:\n%s", part, text)
		}
	}
}

// wantFailure checks an error: its path, line and column, and a part of its message, which is one sentence or more
// without line breaks.
func wantFailure(t *testing.T, err error, place, part string) {
	t.Helper()
	f, ok := errors.AsType[*failure.Error](err)
	if !ok {
		t.Errorf("got %v, want the error %q", err, part)
		return
	}
	if got := fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column); got != place {
		t.Errorf("got the place %s of %q, want %s", got, f.Message, place)
	}
	if !strings.Contains(f.Message, part) || strings.Contains(f.Message, "\n") || !strings.HasSuffix(f.Message, ".") {
		t.Errorf("got the message %q, want a part %q", f.Message, part)
	}
}

// The versions are the versions of the packages that are bundled.
func TestCompilerVersions(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("../../../infra/compilers/package.json")
	for name, version := range map[string]string{"@vue/compiler-sfc": vueVersion, "svelte": svelteVersion} {
		if want := fmt.Sprintf("%q: \"%s.", name, version); err != nil || !strings.Contains(string(manifest), want) {
			t.Errorf("%v: %s does not have %s", err, manifest, want)
		}
	}
}
