package build

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/infra/npmtest"
	"devplatform/infra/testmode"
)

// realTool is a program that compiles a style sheet with Tailwind CSS as it is published.
const realTool = `
console.log = () => {} // daisyUI prints its name
const [version, file] = process.argv.slice(1)
const { readFileSync } = require("fs")
const postcss = require("postcss")
const plugins = version === "3" ? [require("postcss-import"), require("tailwindcss3")]
	: [require("@tailwindcss/postcss")({ optimize: false })]
postcss(plugins).process(readFileSync(file, "utf8"), { from: file, map: false })
	.then(({ css }) => process.stdout.write(css), (error) => { console.error(error); process.exit(1) })`

// plugins are the packages of the projects in the comparison.
var plugins = strings.Fields("tailwindcss-animate tw-animate-css @tailwindcss/typography @tailwindcss/forms daisyui " +
	"@tailwindcss/container-queries " +
	"mini-svg-data-uri postcss-selector-parser cssesc util-deprecate")

// readPlugins returns the files of the plugins that are installed in a folder.
func readPlugins(t testing.TB, modules string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range plugins {
		maps.Copy(all, readTree(t, filepath.Join(modules, name), "/node_modules/"+name))
	}
	return all
}

// realCSS returns the style sheet that the real tool, which is installed in the folder modules, makes.
func realCSS(t *testing.T, modules, version, file string, project map[string][]byte) []byte {
	t.Helper()
	folder := t.TempDir()
	for name, data := range project {
		target := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(modules + "/[a-z]*")
	scoped, _ := filepath.Glob(modules + "/@*/*")
	for _, to := range append(names, scoped...) {
		rel, _ := filepath.Rel(modules, to)
		link := filepath.Join(folder, "node_modules", rel)
		if rel == "tailwindcss" && version == "3" {
			to += "3"
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	node := exec.CommandContext(t.Context(), "node", "--preserve-symlinks", "-e", realTool, version,
		filepath.Join(folder, file))
	node.Dir, node.Stderr = folder, os.Stderr
	node.Env = append(os.Environ(), "NODE_ENV=production")
	css, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	return css
}

// corpus returns the projects of a folder that use Tailwind CSS, except projects of Vue and Svelte.
func corpus(t testing.TB, folder string) map[string]map[string][]byte {
	t.Helper()
	all := map[string]map[string][]byte{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		manifest, err := os.ReadFile(filepath.Join(folder, entry.Name(), "package.json"))
		isSupported := !strings.Contains(string(manifest), `"vue"`) && !strings.Contains(string(manifest), `"svelte"`)
		if err == nil && isSupported && strings.Contains(string(manifest), `"tailwindcss"`) {
			project := readTree(t, filepath.Join(folder, entry.Name()), "")
			if rules, ok := project["/_gitignore"]; ok { // so that it has no meaning for this repository
				project["/.gitignore"] = rules
				delete(project, "/_gitignore")
			}
			all[entry.Name()] = project
		}
	}
	return all
}

// otherImport matches an import of a package that is not installed for the comparison.
var otherImport = regexp.MustCompile(`@import ["'](?:@fontsource|react-day-picker)[^;]*;`)

// The style sheets of projects are the same as with the real tools, after both passed the bundler.
func TestTailwindReal(t *testing.T) {
	t.Parallel()
	modules := filepath.Join(npmtest.Need(t, os.DirFS("../../../infra/compilers")), "node_modules")
	packages := readPlugins(t, modules)
	projects := corpus(t, "testdata/tailwind") // what the corpus does not use
	if testmode.IsNightly() {
		maps.Copy(projects, corpus(t, "../../../infra/corpus"))
		maps.Copy(projects, corpus(t, "../../assistant/scaffold/starters"))
	}
	if len(projects) < 5 {
		t.Fatalf("there are only %d projects", len(projects))
	}
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, sheet := "/a.css", "" // if the project has none of these files
			for _, name := range []string{"/src/index.css", "/src/app.css", "/src/style.css", "/a.css"} {
				if data, ok := project[name]; ok {
					file, sheet = name, otherImport.ReplaceAllString(string(data), "")
					break
				}
			}
			project[file] = []byte(sheet)
			var manifest packageJSON
			_ = json.Unmarshal(project["/package.json"], &manifest)
			spec, _ := manifest.DevDependencies["tailwindcss"].(string)
			version := "4"
			if strings.HasPrefix(spec, "^3") {
				version = "3"
			}
			got := compiledSheet(t, file, project, packages)
			plain := maps.Clone(project)
			plain[file] = realCSS(t, modules, version, file, project)
			delete(plain, "/package.json")
			want := compiledSheet(t, file, plain, packages)
			if got != want {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				begin := max(0, i-100)
				t.Errorf("%d and %d bytes differ at %d:\n%s\nwant\n%s", len(got), len(want), i,
					got[begin:min(len(got), i+200)], want[begin:min(len(want), i+200)])
			}
		})
	}
}

// compiledSheet returns a style sheet as a build compiles it, from a page that loads only this style sheet.
func compiledSheet(t *testing.T, file string, project, packages map[string][]byte) string {
	t.Helper()
	project = maps.Clone(project)
	if page, ok := project["/index.html"]; ok {
		project["/index.html"] = regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAll(page, nil)
	}
	project["/index.html"] = append([]byte(`<link rel="stylesheet" href="`+file+`">`), project["/index.html"]...)
	for name, text := range mustRun(t, sources{Files: project, Packages: packages, Framework: "static"}) {
		if strings.HasPrefix(name, "/assets/") && path.Ext(name) == ".css" {
			return text
		}
	}
	t.Fatal("there is no style sheet")
	return ""
}
