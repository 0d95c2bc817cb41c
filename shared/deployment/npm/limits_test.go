package npm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

// Peers that contradict each other do not replace each other without end.
func TestContradictingPeers(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, p := range []struct{ name, version, peer, wanted string }{
		{"a", "2.0.0", "b", "2"}, {"a", "1.0.0", "b", "1"}, {"b", "2.0.0", "a", "1"}, {"b", "1.0.0", "a", "2"},
	} {
		f.registry.publish(p.name, p.version, fields{"peerDependencies": fields{p.peer: p.wanted}}, nil)
	}
	got, warnings, err := f.resolve(`{"dependencies":{"a":"*"}}`)
	const want = "b@1.0.0 expects a@2, but 1.0.0 is installed."
	if len(got) != 2 || err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) {
		t.Errorf("got %v, error %v and the warnings %q, want both packages and one warning", got, err, warnings)
	}
}

// Many peers follow each other.
func TestChainOfPeers(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for i := range 1000 {
		f.registry.publish(fmt.Sprintf("p%d", i), "1.0.0",
			fields{"peerDependencies": fields{fmt.Sprintf("p%d", i+1): "1"}}, nil)
	}
	f.registry.publish("p1000", "1.0.0", nil, nil)
	got, _, err := f.resolve(`{"dependencies":{"p0":"1"}}`)
	if len(got) != 1001 || err != nil {
		t.Errorf("got %d packages, error %v, want 1001", len(got), err)
	}
}

// Each version of a package needs the next one, so each is below the previous one.
func TestNesting(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for i := range 33 {
		next := fields{"a": fmt.Sprintf("1.0.%d", i+1)}
		f.registry.publish("a", fmt.Sprintf("1.0.%d", i), fields{"dependencies": next}, nil)
	}
	f.registry.publish("a", "1.0.33", nil, nil)
	got, _, err := f.resolve(`{"dependencies":{"a":"1.0.2"}}`)
	if len(got) != 32 || err != nil {
		t.Errorf("got %d packages, error %v, want 32", len(got), err)
	}
	_, _, err = f.resolve(`{"dependencies":{"a":"1.0.1"}}`)
	wantFailure(t, err, failure.DependencyNotFound, "a@1.0.1 needs packages that are nested too deeply")
}

// The memory of documents is limited, too. In memory, a name and a version need many times the bytes of their JSON.
func TestMemoryOfDocuments(t *testing.T) {
	t.Parallel()
	const large = 255 << 10
	versions := func(n int, version string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"1.0.%d":%s`, i+1, version)
		}
		return `{"versions":{"1.0.0":{}` + b.String() + `}}`
	}
	aliases := make([]string, 55)
	for i := range aliases {
		aliases[i] = fmt.Sprintf(`"x%d":"npm:a@1.0.%d"`, i, i)
	}
	all := strings.Join(aliases, ",")
	padding := `"padding":"` + strings.Repeat("x", large) + `"`
	tooMuch := "The lists of versions of the packages have more than 256 MiB"
	for name, tc := range map[string]struct{ document, dependencies, message string }{
		"many versions":     {versions(50_000, `{}`), `"a":"1"`, "The list of versions of a is too large"},
		"a large version":   {versions(1, `{"padding":"`+strings.Repeat("x", 1<<20)+`"}`), `"a":"1.0.1"`, "not in the"},
		"large versions":    {versions(54, `{`+padding+`}`), all, tooMuch},
		"small versions":    {versions(54, `{}`), all, ""},
		"deprecated":        {versions(60, `{`+padding+`,"deprecated":"x"}`), `"a":"1"`, ""},
		"a long version":    {`{"versions":{"1.0.0-` + strings.Repeat("1.", 1<<20) + `0":{}}}`, `"a":"*"`, "not in the"},
		"a long name":       {`{"versions":{"1.0.0":{}},"` + strings.Repeat("x", 1<<20) + `":1}`, `"a":"1"`, ""},
		"null instead":      {`{"versions":null,"dist-tags":null}`, `"a":"1"`, "not in the"},
		"a list instead":    {`{"versions":[]}`, `"a":"1"`, "cannot be read"},
		"numbers as tags":   {`{"versions":{"1.0.0":{}},"dist-tags":{"latest":1}}`, `"a":"1"`, "cannot be read"},
		"a version as tags": {`{"versions":{"1.0.0":{}},"dist-tags":{"latest":"2.0.0"}}`, `"a":"1"`, ""},
	} {
		f := setUp(t)
		f.registry.on["/a"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.document) }
		_, _, err := f.resolve(`{"dependencies":{` + tc.dependencies + `}}`)
		if tc.message == "" && err != nil || tc.message != "" && (err == nil || !strings.Contains(err.Error(), tc.message)) {
			t.Errorf("%s: got error %v, want %q", name, err, tc.message)
		}
	}
}

// numbered returns n dependencies that are in no lock file.
func numbered(n int) string {
	missing := make([]string, n)
	for i := range missing {
		missing[i] = fmt.Sprintf(`"missing%d":"1"`, i)
	}
	return strings.Join(missing, ",")
}

// TestLockLimits checks that a lock file that no npm writes is refused or used.
func TestLockLimits(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	a := f.registry.publish("a", "1.0.0", nil, nil)
	deep := func(levels int, name string) string {
		var b strings.Builder
		var packages []string
		for range levels {
			b.WriteString("/node_modules/" + name)
			fields := fmt.Sprintf(`,"name":"a","dependencies":{%q:"*"}`, name)
			packages = append(packages, entry(b.String()[1:], "1.0.0", a, fields))
		}
		return lockOf(packages...)
	}
	nested := "a" + strings.Repeat("/node_modules/a", 10_000)
	long := strings.Repeat("n", 200)
	for name, tc := range map[string]struct {
		name, lock string
		code       failure.Code
		message    string // "" if the lock file is accepted
	}{
		"nested": {
			"a", lockOf(entry("node_modules/a", "1.0.0", a, fmt.Sprintf(`,"dependencies":{%q:"1"}`, nested)),
				entry("node_modules/"+nested, "1.0.0", a, `,"optionalDependencies":{`+numbered(40)+`}`)),
			failure.BuildFailed, "names a package that is not valid",
		},
		"32 levels": {"a", deep(32, "a"), "", ""},
		"33 levels": {"a", deep(33, "a"), failure.BuildFailed, "names a package that is not valid"},
		"long":      {long, deep(4, long), "", ""},
		"longer":    {long, deep(5, long), failure.BuildFailed, "names a package that is not valid"},
		"not a name": {
			"a", lockOf(entry("node_modules/a", "1.0.0", a, `,"optionalDependencies":{"a/node_modules/b":"1"}`)),
			failure.BuildFailed, "names a package that is not valid",
		},
		"many dependencies": {
			"a", lockOf(entry("node_modules/a", "1.0.0", a, `,"optionalDependencies":{`+numbered(20_001)+`}`)),
			failure.DependencyTooLarge, "more than 4 MiB or 20000 dependencies",
		},
		"many packages": {
			"a", lockOf(strings.ReplaceAll(numbered(20_000), `"1"`, "{}")),
			failure.DependencyTooLarge, "more than 4 MiB or 20000 dependencies",
		},
		"large": {
			"a", lockOf(entry("node_modules/a", "1.0.0", a, "")) + strings.Repeat(" ", 4<<20),
			failure.DependencyTooLarge, "more than 4 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, report, err := f.install(t, fmt.Sprintf(`%q:"npm:a@*"`, tc.name), tc.lock)
			if tc.message != "" {
				wantFailure(t, err, tc.code, tc.message)
			} else if err != nil || len(report.Warnings) > 0 {
				t.Errorf("got %+v, error %v, want locked packages", report, err)
			}
		})
	}
}

// A lock file with too many packages is not read to its end, and its reading ends with its time.
func TestLockStops(t *testing.T) {
	t.Parallel()
	packages, dependencies := []string{}, make([]string, 150)
	extra := `,"optionalDependencies":{` + numbered(100) + `}`
	for i := range dependencies {
		name := fmt.Sprintf("p%d", i)
		dependencies[i] = fmt.Sprintf(`%q:"1"`, name)
		packages = append(packages, entry("node_modules/"+name, "1.0.0", "", extra))
	}
	manifest := []byte(`{"dependencies":{` + strings.Join(dependencies, ",") + `}}`)
	lock := []byte(lockOf(packages...))
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := npm.Select(stopped, manifest, lock); !errors.Is(err, context.Canceled) {
		t.Errorf("got %d packages, error %v, want the error of the context", n, err)
	}
	if n, err := npm.Select(t.Context(), manifest, lock); n != 150 || err != nil {
		t.Errorf("got %d packages, error %v, want 150", n, err)
	}
	chain := []string{}
	for i := range 1600 { // the last of them misses a package, so that the lock file does not match
		chain = append(chain, entry(fmt.Sprintf("node_modules/c%d", i), "1.0.0", "",
			fmt.Sprintf(`,"dependencies":{"c%d":"*"}`, i+1)))
	}
	_, err := npm.Select(t.Context(), []byte(`{"dependencies":{"c0":"*"}}`), []byte(lockOf(chain...)))
	wantFailure(t, err, failure.DependencyTooLarge, "more than 1500 packages. Most of them are needed by c0 (1501).")
}

// The documents that are read at the same time share the limit of all documents while they are read.
func TestDocumentsShareLimit(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	stopped := make(chan struct{}) // closed when the installer stops to read a document
	var once sync.Once
	chunk := []byte(strings.Repeat(" ", 1<<20))
	dependencies := make([]string, 16)
	for i := range dependencies {
		name := fmt.Sprintf("p%d", i)
		dependencies[i] = fmt.Sprintf(`%q:"1"`, name)
		f.registry.publish(name, "1.0.0", nil, nil)
		document, _ := json.Marshal(f.registry.documents[name])
		f.registry.on["/"+name] = func(w http.ResponseWriter, r *http.Request) {
			for range 17 { // MiB: 16 documents are larger than the limit of 256 MiB, and 15 are not
				_, _ = w.Write(chunk)
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				once.Do(func() { close(stopped) })
			case <-stopped:
			}
			_, _ = w.Write(document)
		}
	}
	_, _, err := f.install(t, strings.Join(dependencies, ","), "")
	wantFailure(t, err, failure.DependencyTooLarge, "The lists of versions of the packages have more than 256 MiB")
	if _, _, err := f.install(t, strings.Join(dependencies[:15], ","), ""); err != nil {
		t.Error(err)
	}
}

func TestTooManyPackages(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	f := setUp(t)
	var dependencies, packages []string
	for i := range 1501 {
		name := fmt.Sprintf("p%d", i)
		integrity := f.registry.publish(name, "1.0.0", nil, nil)
		dependencies = append(dependencies, fmt.Sprintf(`%q:"1"`, name))
		packages = append(packages, entry("node_modules/"+name, "1.0.0", integrity, ""))
	}
	for name, lock := range map[string]string{"resolved": "", "locked": lockOf(packages...)} {
		_, _, err := f.install(t, strings.Join(dependencies, ","), lock)
		wantFailure(t, err, failure.DependencyTooLarge, "more than 1500 packages. Most of them are needed by p0 (1)")
		if !testmode.IsNightly() {
			continue // 1,500 downloads
		}
		_, report, err := f.install(t, strings.Join(dependencies[:1500], ","), lock)
		if report.Packages != 1500 || err != nil {
			t.Errorf("%s: got %+v, error %v, want 1500 packages", name, report, err)
		}
	}
	// A registry that makes up a new package with each document.
	endless := setUp(t)
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := n.Add(2)
		_, _ = fmt.Fprintf(w, `{"versions":{"1.0.0":{"dependencies":{"x%d":"*","x%d":"*"}}}}`, first, first+1)
	}))
	t.Cleanup(server.Close)
	endless.deps.Registry = server.URL
	_, _, err := endless.install(t, `"x0":"*"`, "")
	wantFailure(t, err, failure.DependencyTooLarge, "more than 1500 packages. Most of them are needed by x0 (")
}

// A project can select thousands of times from a document with thousands of versions. No selection begins after the end
// of the installation.
func TestEndDuringSelection(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	if applied, err := npm.SelectAfterEnd(f.deps, "a"); !errors.Is(err, context.Canceled) || applied != 0 {
		t.Errorf("got error %v, and rules for %d dependencies, want context.Canceled, and none", err, applied)
	}
}
