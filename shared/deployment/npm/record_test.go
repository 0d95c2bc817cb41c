package npm_test

import (
	"compress/gzip"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"deps.dev/util/semver"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment/npm"
)

// recordedFile contains what TestCompare recorded with NPM_RECORD=1: the versions that were selected for some of the
// projects, as npm does, and the registry's documents of these packages, with a few other versions.
const recordedFile = "testdata/projects.json.gz"

type recorded struct {
	Versions  map[string]map[string]string // by project and location
	Documents map[string]*registryDocument // by name
}

type registryDocument struct {
	Tags     map[string]string         `json:"dist-tags"`
	Versions map[string]map[string]any `json:"versions"`
}

// recordedProjects have no aliases.
var recordedProjects = []string{
	"lovable", "recharts 2 and d3", "mui 6 with pickers", "chakra 2", "tanstack", "redux", "router 7", "overrides",
}

// TestRecorded checks that the versions and locations of real projects are those that were compared with npm.
func TestRecorded(t *testing.T) {
	t.Parallel()
	file, err := os.Open(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var data recorded
	if err := json.UnmarshalRead(unzipped, &data); err != nil {
		t.Fatal(err)
	}
	registry := newRegistry(t)
	for name, document := range data.Documents {
		registry.on["/"+name] = func(w http.ResponseWriter, _ *http.Request) { _ = json.MarshalWrite(w, document) }
	}
	manifests := projects(t)
	for _, name := range recordedProjects {
		in := npm.Project{Files: map[string][]byte{"/package.json": manifests[name]}, Imports: projectImports}
		got, _, err := npm.Resolve(t.Context(), npm.Deps{Registry: registry.server.URL, AllowPrivate: true}, in)
		if diff := cmp.Diff(data.Versions[name], got); diff != "" || err != nil {
			t.Errorf("%s: error %v; mismatch (-want +got):\n%s", name, err, diff)
		}
	}
}

// add adds a project to the recorded ones.
func (r *recorded) add(t *testing.T, registry, project string, versions map[string]string) {
	t.Helper()
	r.Versions[project] = versions
	for location, version := range versions {
		name := location[strings.LastIndex(location, "node_modules/")+len("node_modules/"):]
		full := download(t, registry, name)
		kept := r.Documents[name]
		if kept == nil {
			kept = &registryDocument{Tags: map[string]string{}, Versions: map[string]map[string]any{}}
			r.Documents[name] = kept
		}
		stable := slices.DeleteFunc(slices.Collect(maps.Keys(full.Versions)), func(v string) bool {
			return strings.Contains(v, "-")
		})
		slices.SortFunc(stable, func(a, b string) int { return -semver.NPM.Compare(a, b) })
		latest := full.Tags["latest"]
		kept.Tags["latest"] = latest
		for _, v := range append(stable[:min(4, len(stable))], version, latest) {
			kept.Versions[v] = map[string]any{}
			for _, field := range []string{
				"dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "os", "cpu", "deprecated",
			} {
				if value := full.Versions[v][field]; value != nil {
					kept.Versions[v][field] = value
				}
			}
		}
	}
}

func download(t *testing.T, registry, name string) (d registryDocument) {
	t.Helper()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet,
		strings.TrimRight(registry, "/")+"/"+strings.Replace(name, "/", "%2f", 1), nil)
	request.Header.Set("Accept", "application/vnd.npm.install-v1+json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.UnmarshalRead(response.Body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// write writes the file of TestRecorded.
func (r *recorded) write(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll("testdata", 0o750); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	zipped, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err := json.MarshalWrite(zipped, r, json.Deterministic(true)); err != nil {
		t.Fatal(err)
	}
	_ = zipped.Close()
	_ = file.Close()
}
