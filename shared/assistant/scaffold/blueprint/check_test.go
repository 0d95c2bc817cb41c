package blueprint

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is made for Vue and Svelte compiles with their own compilers, at the versions that check/package.json pins, without a warning.
func TestVueAndSvelteCompile(t *testing.T) {
	t.Parallel()
	compilers := installed(t)
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

// installed is a folder with check/ and the packages that it pins. Without Node, npm or a registry the test is skipped, except in CI.
func installed(t *testing.T) string {
	t.Helper()
	give := t.Skipf
	if os.Getenv("CI") == "true" {
		give = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			give("the compilers of Vue and Svelte need %s: %v", program, err)
		}
	}
	folder := t.TempDir()
	for _, file := range []string{"package.json", "package-lock.json", ".npmrc", "check.js"} {
		content, err := os.ReadFile(filepath.Join("check", file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, file), string(content))
	}
	if out, err := run(folder, "npm", "ci", "--ignore-scripts", "--prefer-offline"); err != nil {
		give("the compilers of Vue and Svelte could not be installed: %v\n%s", err, out)
	}
	return folder
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
