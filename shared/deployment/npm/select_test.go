package npm_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// Ranges can contain tags beside versions. Words that are not versions are ignored, as npm does.
func TestRangesWithTags(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, v := range []string{"2.0.0", "3.0.0", "4.0.0-alpha.1", "4.0.0"} {
		f.registry.publish("a", v, nil, nil)
	}
	f.registry.documents["a"]["dist-tags"].(fields)["insiders"] = "4.0.0-alpha.1"
	f.registry.publish("b", "1.0.0", fields{"peerDependencies": fields{"a": ">=2.0.0 || insiders"}}, nil)
	for spec, want := range map[string]string{
		">=3.0.0 || insiders": "4.0.0", "insiders || ^3": "3.0.0", "insiders": "4.0.0-alpha.1", "<4 insiders": "3.0.0",
		"^9 || insiders": "",
	} {
		got, _, err := f.resolve(fmt.Sprintf(`{"dependencies":{"a":%q,"b":"1"}}`, spec))
		if want == "" {
			wantFailure(t, err, failure.DependencyNotFound, "a@"+spec+" is not in the npm registry")
		} else if got["node_modules/a"] != want || err != nil {
			t.Errorf("%q: got %v, error %v, want %s", spec, got, err, want)
		}
	}
}

// Only the devDependencies that the sources import are installed. The versions of the others are used for peers. Build
// tools are never installed.
func TestDevelopmentDependencies(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("tailwindcss", "3.4.0", nil, nil)
	f.registry.publish("theme", "3.4.0", nil, nil)
	f.registry.publish("theme", "4.1.0", nil, nil)
	f.registry.publish("typescript", "5.0.0", nil, nil)
	f.registry.publish("clsx", "2.0.0", nil, nil)
	f.registry.publish("plugin", "1.0.0", fields{
		"dependencies":     fields{"vite": "^5", "eslint-plugin-x": "1", "@types/node": "*"},
		"peerDependencies": fields{"tailwindcss": ">=3", "theme": ">=3.0.0 || insiders", "typescript": ">=4"},
	}, nil)
	f.registry.publish("printer", "1.0.0", fields{"dependencies": fields{"typescript": "^5"}}, nil)
	for name, tc := range map[string]struct {
		manifest string
		imports  string
		want     string
	}{
		"not imported": {`{"devDependencies":{"clsx":"2"}}`, "", ""},
		"imported":     {`{"devDependencies":{"clsx":"2","plugin":"git+ssh://example.com/x"}}`, "clsx", "clsx@2.0.0"},
		"in both":      {`{"devDependencies":{"clsx":"9"},"dependencies":{"clsx":"2"}}`, "clsx", "clsx@2.0.0"},
		"a peer":       {`{"dependencies":{"plugin":"1"}}`, "", "plugin@1.0.0 theme@4.1.0"},
		"a peer whose version is in devDependencies": {
			`{"dependencies":{"plugin":"1"},"devDependencies":{"theme":"^3"}}`, "", "plugin@1.0.0 theme@3.4.0",
		},
		"build tools": {
			`{"dependencies":{"react-scripts":"5","vite":"^5","@types/x":"1","clsx":"2"}}`, "vite", "clsx@2.0.0",
		},
		"a tool for browsers":  {`{"dependencies":{"typescript":"5"}}`, "", ""},
		"one that is imported": {`{"devDependencies":{"typescript":"5"}}`, "typescript", "typescript@5.0.0"},
		"one that is needed":   {`{"dependencies":{"printer":"1"}}`, "", "printer@1.0.0 typescript@5.0.0"},
	} {
		in := project(tc.manifest, "")
		in.Imports = map[string]bool{tc.imports: true}
		got, _, err := npm.Resolve(t.Context(), f.deps, in)
		if diff := cmp.Diff(tc.want, describe(got)); diff != "" || err != nil {
			t.Errorf("%s: error %v; mismatch (-want +got):\n%s", name, err, diff)
		}
	}
	if n := f.registry.count("/vite") + f.registry.count("/react-scripts") + f.registry.count("/@types/node"); n != 0 {
		t.Errorf("got %d requests for packages that are not installed, want none", n)
	}
}

// A package is placed where all its peers fit, even if another peer is satisfied already.
func TestPeersThatDoNotFit(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, v := range []string{"1.0.0", "2.0.0"} {
		f.registry.publish("react", v, nil, nil)
		f.registry.publish("store", v, nil, nil)
	}
	peers := fields{"react": "^2", "store": "^1"}
	f.registry.publish("widget", "1.0.0", fields{"peerDependencies": peers}, nil)
	f.registry.publish("kit", "1.0.0", fields{"dependencies": fields{"widget": "1", "store": "^1"}}, nil)
	f.registry.publish("picker", "1.0.0", fields{
		"peerDependencies": fields{"store": "^1"}, "peerDependenciesMeta": fields{"store": fields{"optional": true}},
	}, nil)
	f.registry.publish("form", "1.0.0", fields{"dependencies": fields{"picker": "1", "store": "^1"}}, nil)
	f.registry.publish("reader", "1.0.0", fields{
		"dependencies": fields{"page": "2"}, "peerDependencies": fields{"store": ">=1"},
	}, nil)
	f.registry.publish("writer", "1.0.0", fields{
		"dependencies": fields{"page": "2"}, "optionalDependencies": fields{"store": "9"}, // it does not exist
	}, nil)
	f.registry.publish("page", "1.0.0", nil, nil)
	f.registry.publish("page", "2.0.0", fields{"dependencies": fields{"store": "2"}}, nil)
	for name, tc := range map[string]struct{ dependencies, want string }{
		"below a package with the peer": {
			`"page":"1","reader":"1","store":"1"`,
			"page@1.0.0 reader/page/store@2.0.0 reader/page@2.0.0 reader@1.0.0 store@1.0.0",
		},
		"below a package that needs another version": {
			`"page":"1","writer":"1"`, "page@1.0.0 writer/page/store@2.0.0 writer/page@2.0.0 writer@1.0.0",
		},
		"one fits": {
			`"kit":"1","react":"2","store":"2"`, "kit/store@1.0.0 kit/widget@1.0.0 kit@1.0.0 react@2.0.0 store@2.0.0",
		},
		"both fit": {`"kit":"1","react":"2"`, "kit@1.0.0 react@2.0.0 store@1.0.0 widget@1.0.0"},
		"the project's own": {
			`"widget":"1","react":"1","store":"2"`, "react@1.0.0 store@2.0.0 widget@1.0.0",
		},
		"an optional one": {
			`"form":"1","store":"2"`, "form/picker@1.0.0 form/store@1.0.0 form@1.0.0 store@2.0.0",
		},
	} {
		manifest := `{"dependencies":{` + tc.dependencies + `}}`
		f.compare(t, name, manifest, tc.want)
		got, _, err := f.resolve(manifest)
		if diff := cmp.Diff(tc.want, describe(got)); diff != "" || err != nil {
			t.Errorf("%s: error %v; mismatch (-want +got):\n%s", name, err, diff)
		}
	}
	_, warnings, _ := f.resolve(`{"dependencies":{"widget":"1","react":"1","store":"2"}}`)
	want := []string{
		"widget@1.0.0 expects react@^2, but 1.0.0 is installed. If the site does not work, select versions that fit together.",
		"widget@1.0.0 expects store@^1, but 2.0.0 is installed. If the site does not work, select versions that fit together.",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings: mismatch (-want +got):\n%s", diff)
	}
}

// An alias of the project is also used by packages that depend on its name.
func TestAliasForOthers(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("react", "18.0.0", nil, nil)
	f.registry.publish("preact", "18.1.0", nil, nil)
	f.registry.publish("a", "1.0.0", fields{
		"dependencies": fields{"react": "^18"}, "peerDependencies": fields{"preact": "*"},
	}, nil)
	got, warnings, err := f.resolve(`{"dependencies":{"react":"npm:preact@18","a":"1"}}`)
	if describe(got) != "a@1.0.0 preact@18.1.0 react@18.1.0" || len(warnings) != 0 || err != nil {
		t.Errorf("got %s, error %v and the warnings %q", describe(got), err, warnings)
	}
}

// Packages with too many dependencies are refused before they are compared with each other.
func TestManyEdges(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	peers, meta := fields{}, fields{}
	for i := range 20_001 {
		name := fmt.Sprintf("p%d", i)
		peers[name], meta[name] = "*", fields{"optional": true}
	}
	for _, name := range []string{"a", "b"} {
		f.registry.publish(name, "1.0.0", fields{"peerDependencies": peers, "peerDependenciesMeta": meta}, nil)
	}
	f.registry.publish("c", "1.0.0", nil, nil)
	_, _, err := f.resolve(`{"dependencies":{"a":"1","b":"1","c":"1"}}`)
	wantFailure(t, err, failure.DependencyTooLarge, "needs more than 1500 packages. Most of them are needed by a (1)")
}
