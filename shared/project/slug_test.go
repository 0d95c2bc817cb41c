package project

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestSlugOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Café Déjà":                     "cafe-deja",
		"Cafe\u0301 De\u0301ja\u0300":   "cafe-deja",
		"项目":                            "project",
		"项目 App 2":                      "app-2",
		"   ":                           "project",
		"🚀":                             "project",
		"Project":                       "project",
		"--a--b__c  d--":                "a-b-c-d",
		"Ada's App":                     "adas-app",
		"Ada’s App":                     "adas-app",
		"Straße":                        "strasse",
		"STRAẞE":                        "strasse",
		"Ærøskøbing":                    "aeroskobing",
		"Œuvre":                         "oeuvre",
		"Đà Nẵng":                       "da-nang",
		"Łódź":                          "lodz",
		"Þór Guðmundsson":               "thor-gudmundsson",
		"İstanbul Iğdır":                "istanbul-igdir",
		"ﬁne ℡ ½":                       "fine-tel-1-2",
		"ＦＵＬＬ width":                    "full-width",
		"v1.2.3":                        "v1-2-3",
		"C++ & Go":                      "c-go",
		"Привет":                        "project",
		"a\u200db":                      "a-b",
		"Ångström Ħal Ŧ Ŋ":              "angstrom-hal-t-ng",
		strings.Repeat("x", 100):        strings.Repeat("x", 60),
		strings.Repeat("x", 59) + " yy": strings.Repeat("x", 59),
		strings.Repeat("x", 59) + "ß y": strings.Repeat("x", 59),
	} {
		if got := slugOf(name); got != want {
			t.Errorf("slugOf(%q) = %q, want %q", name, got, want)
		}
	}
}

var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestSlugOfProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		latin := rapid.StringOfN(rapid.RuneFrom(nil, unicode.Latin, unicode.Mn, unicode.Zs), 0, 100, -1)
		name := rapid.OneOf(rapid.String(), latin).Draw(t, "name")
		slug := slugOf(name)
		if !slugPattern.MatchString(slug) || len(slug) > maxSlugBase {
			t.Fatalf("%q is not a valid slug", slug)
		}
		if again := slugOf(slug); again != slug {
			t.Fatalf("slugOf(%q) = %q, want the same slug", slug, again)
		}
		if upper := slugOf(strings.ToUpper(slug)); upper != slug {
			t.Fatalf("slugOf(%q) = %q, want %q", strings.ToUpper(slug), upper, slug)
		}
	})
}

func TestNextSlugIsFree(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		taken []string
		want  string
	}{
		{nil, "app"},
		{[]string{"app-2"}, "app"},
		{[]string{"app"}, "app-2"},
		{[]string{"app", "app-2", "app-4", "apple"}, "app-3"},
	} {
		taken := map[string]bool{}
		for _, slug := range tc.taken {
			taken[slug] = true
		}
		if got := nextSlug("app", taken, 1); got != tc.want {
			t.Errorf("taken %v: got %q, want %q", tc.taken, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		taken := map[string]bool{"app": true}
		for _, n := range rapid.SliceOf(rapid.IntRange(2, 40)).Draw(t, "numbers") {
			taken["app-"+strconv.Itoa(n)] = true
		}
		slug := nextSlug("app", taken, rapid.IntRange(1, 20).Draw(t, "attempt"))
		if taken[slug] || !slugPattern.MatchString(slug) {
			t.Fatalf("nextSlug returned %q, which is taken or not valid", slug)
		}
	})
}
