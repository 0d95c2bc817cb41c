package action_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/shared/assistant/action"
)

// A manifest is parsed only once for all packages of an action. The number of allocations shows this.
func TestManifestIsParsedOnce(t *testing.T) { // it counts all allocations of the process
	var members strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&members, ",\n    \"old%d\": \"1.%d\"", i, i)
	}
	for path, content := range map[string]string{
		"/package.json": "{\n  \"dependencies\": {" + members.String()[1:] + "\n  }\n}\n",
	} {
		allocations := func(n int) float64 {
			packages := make([]string, n)
			for i := range packages {
				packages[i] = fmt.Sprintf("new%d@1.0.0", i)
				if i%2 == 0 {
					packages[i] = fmt.Sprintf("old%d@2.0.0", i)
				}
			}
			return testing.AllocsPerRun(3, func() {
				d := action.NewDraft(newFiles(map[string]string{path: content}))
				if err := d.Apply(t.Context(), add(path, packages...)); err != nil {
					t.Fatal(err)
				}
			})
		}
		if one, fifty := allocations(1), allocations(50); fifty > 2*one {
			t.Errorf("%s: %v allocations for 1 package and %v for 50, want at most twice as many", path, one, fifty)
		}
	}
}

// One action that adds several packages has the same result as several actions that each add one of the packages.
func TestAddingPackagesTogetherOrSeparately(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f"}
	section := rapid.Custom(func(t *rapid.T) string {
		var members []string
		for _, name := range rapid.Permutation(names).Draw(t, "names")[:rapid.IntRange(0, 4).Draw(t, "members")] {
			space := rapid.SampledFrom([]string{"", " ", "\n    "}).Draw(t, "space")
			colon := rapid.SampledFrom([]string{":", ": ", " : "}).Draw(t, "colon")
			members = append(members, fmt.Sprintf(`%s%q%s"^1"`, space, name, colon))
		}
		return "{" + strings.Join(members, ",") + rapid.SampledFrom([]string{"", "\n  "}).Draw(t, "end") + "}"
	})
	packageJSON := rapid.Custom(func(t *rapid.T) string {
		var members []string
		sections := rapid.Permutation([]string{"name", "dependencies", "devDependencies"}).Draw(t, "sections")
		for _, name := range sections[:rapid.IntRange(0, 3).Draw(t, "n")] {
			value := `"x"`
			if name != "name" {
				value = section.Draw(t, name)
			}
			members = append(members, fmt.Sprintf("\n  %q: %s", name, value))
		}
		return "{" + strings.Join(members, ",") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end") + "}\n"
	})
	rapid.Check(t, func(rt *rapid.T) {
		const path = "/package.json"
		before := packageJSON.Draw(rt, "content")
		var packages []string
		for _, name := range rapid.Permutation(names).Draw(rt, "packages")[:rapid.IntRange(1, 5).Draw(rt, "n")] {
			packages = append(packages, name+rapid.SampledFrom([]string{"", "@2.0.0"}).Draw(rt, "version"))
		}
		together, err := edited(t, path, before, packages...)
		separately := before
		for _, p := range packages {
			next, errSeparately := edited(t, path, separately, p)
			if errSeparately != nil {
				if err == nil {
					rt.Fatalf("%q alone: got error %v, want no error, as for %q together", p, errSeparately, packages)
				}
				return
			}
			separately = next
		}
		if err != nil || separately != together {
			rt.Fatalf("%q added to %q:\ntogether: %q, error %v\nseparately: %q", packages, before, together, err, separately)
		}
	})
}
