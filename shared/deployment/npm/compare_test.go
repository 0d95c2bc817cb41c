package npm_test

import (
	"context"
	_ "embed"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/deployment/npm"
)

//go:embed testdata/projects.json
var projectsFile []byte

// projects returns the manifests of typical projects, by name.
func projects(t testing.TB) map[string]jsontext.Value {
	t.Helper()
	var all map[string]jsontext.Value
	if err := json.Unmarshal(projectsFile, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// projectImports are the devDependencies that the sources of the projects import.
var projectImports = map[string]bool{"lucide-react": true, "clsx": true, "@headlessui/react": true}

// TestCompare compares the versions and locations of real projects with those of npm. It needs a registry, and npm:
//
//	NPM_COMPARE=https://registry.example.com go test -timeout 30m ./shared/deployment/npm
//
// Then other tests also compare their expectations with npm. With NPM_RECORD=1, TestCompare records the data of
// TestRecorded.
func TestCompare(t *testing.T) {
	t.Parallel()
	registry := os.Getenv("NPM_COMPARE")
	if registry == "" {
		t.Skip("NPM_COMPARE is not set to the URL of a registry")
	}
	record := recorded{Versions: map[string]map[string]string{}, Documents: map[string]*registryDocument{}}
	for name, manifest := range projects(t) {
		t.Run(name, func(t *testing.T) {
			in := npm.Project{Files: map[string][]byte{"/package.json": manifest}, Imports: projectImports}
			want := npmInstall(t, registry, in)
			began := time.Now()
			d := npm.Deps{Registry: registry, AllowPrivate: true, Logger: slog.New(slog.DiscardHandler)}
			got, warnings, err := npm.Resolve(context.Background(), d, in)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d packages in %v; %q", len(got), time.Since(began).Round(time.Millisecond), warnings)
			compareTrees(t, got, want)
			if os.Getenv("NPM_RECORD") != "" && slices.Contains(recordedProjects, name) {
				record.add(t, registry, name, got)
			}
		})
	}
	if os.Getenv("NPM_RECORD") != "" && !t.Failed() {
		record.write(t)
	}
}

// installed is what npm installs: the version of each package, and the names of its dependencies, by location.
type installed struct {
	versions map[string]string
	names    map[string][]string
}

// compareTrees checks that each dependency of each package that npm installs means the same version in the tree that is
// selected, as Node.js finds it, and that this tree has no other versions. Packages may have other places than npm's.
func compareTrees(t *testing.T, got map[string]string, want installed) {
	t.Helper()
	type pair struct{ npms, ours string }
	queue, reached := []pair{{}}, map[pair]bool{{}: true}
	ours := map[string]bool{"": true}
	moved := 0
	for ; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, name := range want.names[from.npms] {
			next := pair{find(want.versions, from.npms, name), find(got, from.ours, name)}
			if a, b := want.versions[next.npms], got[next.ours]; a != b {
				t.Errorf("%s needs %s: got %q at %s, want %q", from.npms, name, b, next.ours, a)
				continue
			}
			if next.npms == "" || reached[next] {
				continue
			}
			reached[next], ours[next.ours] = true, true
			queue = append(queue, next)
			if next.npms != next.ours {
				moved++
			}
		}
	}
	for location, version := range got {
		if !ours[location] {
			t.Errorf("%s: got %s, which nothing needs", location, version)
		}
	}
	t.Logf("npm installs %d packages, %d dependencies are in other places", len(want.versions), moved)
}

// find returns the location of the package that a name means in the package at from, as Node.js finds it, or "".
func find(versions map[string]string, from, name string) string {
	for {
		location := strings.TrimPrefix(from+"/node_modules/"+name, "/")
		if versions[location] != "" {
			return location
		}
		if from == "" {
			return ""
		}
		from = strings.TrimSuffix(from[:strings.LastIndex(from, "node_modules/")], "/")
	}
}

// compare checks that npm selects the versions that a test expects. It does nothing unless NPM_COMPARE is set.
func (f *fixture) compare(t *testing.T, name, manifest, want string) {
	t.Helper()
	if os.Getenv("NPM_COMPARE") == "" {
		return
	}
	if got := describe(npmInstall(t, f.registry.server.URL, project(manifest, "")).versions); got != want {
		t.Errorf("%s: npm installs %s, want %s", name, got, want)
	}
}

// npmInstall returns what npm installs of the packages that a browser can need. If npm finds a conflict of peers, it
// runs again with --force, because a deployment reports such a conflict as a warning.
func npmInstall(t *testing.T, registry string, in npm.Project) installed {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), in.Files["/package.json"], 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund",
		"--registry", registry, "--cache", filepath.Join(dir, "cache")}
	out, err := runNPM(dir, args)
	if strings.Contains(string(out), "ERESOLVE") && err != nil {
		out, err = runNPM(dir, append(args, "--force"))
	}
	if err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	in.Files = maps.Clone(in.Files)
	if in.Files["/package-lock.json"], err = os.ReadFile(filepath.Join(dir, "package-lock.json")); err != nil {
		t.Fatal(err)
	}
	versions, names, err := npm.Locked(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return installed{versions, names}
}

func runNPM(dir string, args []string) ([]byte, error) {
	// npm prefers versions whose engines allow its version of Node.js. A deployment has none, so npm runs as a new one.
	const newNode = "Object.defineProperty(process, 'version', {value: 'v24.12.0'})"
	preload := filepath.Join(dir, "version.cjs")
	if err := os.WriteFile(preload, []byte(newNode), 0o600); err != nil {
		return nil, err
	}
	install := exec.Command("npm", args...)
	install.Dir, install.Env = dir, append(os.Environ(), "NODE_OPTIONS=--require "+preload)
	return install.CombinedOutput()
}
