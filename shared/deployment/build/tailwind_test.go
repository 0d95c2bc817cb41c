package build

import (
	"strings"
	"testing"
)

// css returns the style sheet of a project with one page, which imports /a.css.
func cssOf(t *testing.T, project, packages map[string][]byte) string {
	t.Helper()
	project["/index.html"] = append([]byte(`<link rel=stylesheet href=/a.css>`), project["/index.html"]...)
	for name, text := range mustRun(t, sources{Files: project, Packages: packages, Framework: "static"}) {
		if strings.HasPrefix(name, "/assets/") {
			return text
		}
	}
	t.Fatal("there is no style sheet")
	return ""
}

func TestTailwind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		project, packages map[string][]byte
		want              string
	}{
		"4": {files("/a.css", `@import "tailwindcss"; .b { @apply mt-2 }`, "/index.html", "<p class='flex md:p-4'>"), nil, "x"},
		"3": {files("/a.css", `@tailwind base; @tailwind utilities; .b { @apply mt-2 }`, "/index.html", "<p class='flex md:p-4'>",
			"/tailwind.config.js", "module.exports = { content: ['./*.html'] }"), nil, "x"},
	} {
		got := cssOf(t, c.project, c.packages)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
