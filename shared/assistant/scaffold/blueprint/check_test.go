package blueprint

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/npmtest"
)

// What is made for Vue and Svelte compiles with their own compilers, at the versions that check/package.json pins, without a warning.
func TestVueAndSvelteCompile(t *testing.T) {
	t.Parallel()
	compilers := npmtest.Need(t, os.DirFS("check"))
	findsWhatDoesNot(t, compilers)
	root := t.TempDir()
	everyVariant(t, func(title string, s Spec, r Result) {
		if s.Framework != Vue && s.Framework != Svelte {
			return
		}
		for _, file := range r.Files {
			write(t, filepath.Join(root, title, filepath.FromSlash(file.Path)), file.Content)
		}
	})
	out, err := run(compilers, "node", "check.js", root)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(strings.TrimSpace(out))
}

// findsWhatDoesNot holds that the compilers' errors and warnings come through: a label without a field is refused.
func findsWhatDoesNot(t *testing.T, compilers string) {
	t.Helper()
	for name, content := range map[string]string{
		"Syntax.vue":       "<template><p>{{ a b }}</p></template>\n",
		"Open.vue":         "<template><p></template>\n",
		"Label.svelte":     "<label>Name</label>\n",
		"Image.svelte":     "<img src=\"/a.png\">\n",
		"Unused.svelte":    "<p>a</p>\n<style>b { color: red; }</style>\n",
		"broken.svelte.js": "export const a = $state(;\n",
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, name), content)
		if out, err := run(compilers, "node", "check.js", root); err == nil || !strings.Contains(out, name) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func run(folder, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(context.Background(), program, arguments...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
