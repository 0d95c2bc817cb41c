package blueprint

import (
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// stride is a prime, so that every kind, name and language has its turn; -script-stride=1 tries all variants.
var stride = flag.Int("script-stride", 17, "try every so many variants of scripts")

// scripted are the frameworks whose files esbuild can judge whole.
var scripted = []Framework{React, Next, Express}

var (
	kinds      = []Kind{Component, Page, Endpoint, Form, List, Utility}
	utilities  = []string{"", "hook", "store", "helper", "client"}
	everyField = []Field{
		{[]string{"first", "name"}, text, true}, {[]string{"bio"}, longtext, false}, {[]string{"email"}, email, true}, {[]string{"password"}, password, true},
		{[]string{"age"}, number, false}, {[]string{"price"}, number, true}, {[]string{"active"}, boolean, false}, {[]string{"terms"}, boolean, true},
		{[]string{"birth", "date"}, date, true}, {[]string{"website"}, url, false}, {[]string{"phone"}, tel, false}, {[]string{"class"}, text, false},
		{[]string{"id"}, text, true}, {[]string{"项目"}, text, true}, {[]string{"备注"}, longtext, false}, {[]string{"constructor"}, text, true},
	}
	optionalOnly = []Field{{[]string{"note"}, text, false}}
	booleanOnly  = []Field{{[]string{"done"}, boolean, false}, {[]string{"agreed"}, boolean, true}}
	secretOnly   = []Field{{[]string{"password"}, password, true}}
)

// everyName are names that are well known, ordinary, or hostile.
func everyName() [][]string {
	var names [][]string
	for _, words := range strings.Split("user profile|users|todo|product card|404|not found|class|naïve café|项目|news|data|contact form|login|sign up|search bar|"+
		"button|counter|modal|navbar|footer|hero|spinner|alert|card|home|about|user list|settings page|people|address|error|errors|map|state|status|id|index|default|"+
		"use toggle|debounce|local storage|media query|window size|fetch|counter hook|format date|format price|slugify|capitalize|truncate|group by|clamp|validate email|"+
		"health|new|delete|constructor|then|to string|item|list|table|component|page|1 2 3|2fa code|html|test|route|app|router|api error|styles|values|event handler|next|response|link", "|") {
		names = append(names, strings.Fields(words))
	}
	return append(names, nil, []string{""}, []string{"</script>", "${x}", "`", "'\"\\"}, []string{strings.Repeat("a", 100)}, []string{"\u2028", "\x00", "\xff"})
}

// variants are all Specs worth a look for one framework.
func variants(f Framework) []Spec {
	var specs []Spec
	for _, name := range everyName() {
		for _, kind := range kinds {
			for _, ts := range []bool{false, true} {
				specs = append(specs, Spec{Framework: f, Kind: kind, Name: name, TypeScript: ts}, Spec{Framework: f, Kind: Test, Subject: kind, Name: name, TypeScript: ts})
			}
		}
	}
	for _, fields := range [][]Field{everyField, optionalOnly, booleanOnly, secretOnly} {
		for _, name := range [][]string{{"user"}, {"customers"}, {"login"}, {"widget"}} {
			for _, ts := range []bool{false, true} {
				for _, table := range []bool{false, true} {
					for _, kind := range kinds {
						s := Spec{Framework: f, Kind: kind, Name: name, TypeScript: ts, Fields: fields, Table: table}
						specs = append(specs, s)
						s.Kind, s.Subject = Test, kind
						specs = append(specs, s)
					}
				}
			}
		}
	}
	return append(append(specs, utilityVariants(f)...), methodVariants(f)...)
}

func utilityVariants(f Framework) []Spec {
	var specs []Spec
	for _, name := range everyName() {
		for _, utility := range utilities {
			for _, ts := range []bool{false, true} {
				s := Spec{Framework: f, Kind: Utility, Utility: utility, Name: name, TypeScript: ts}
				specs = append(specs, s)
				s.Kind, s.Subject = Test, Utility
				specs = append(specs, s)
			}
		}
	}
	return specs
}

func methodVariants(f Framework) []Spec {
	var specs []Spec
	all := []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	for set := range 1 << len(all) {
		var methods []string
		for i, method := range all {
			if set&(1<<i) != 0 {
				methods = append(methods, method)
			}
		}
		for _, ts := range []bool{false, true} {
			for _, fields := range [][]Field{nil, everyField, secretOnly} {
				s := Spec{Framework: f, Kind: Endpoint, Name: []string{"todos"}, Methods: methods, TypeScript: ts, Fields: fields}
				specs = append(specs, s)
				s.Kind, s.Subject = Test, Endpoint
				specs = append(specs, s)
			}
		}
	}
	return specs
}

func TestEveryVariantIsWhole(t *testing.T) {
	t.Parallel()
	for _, f := range scripted {
		for i, s := range variants(f) {
			if i%*stride != 0 {
				continue
			}
			r, err := Make(s)
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if found := problems(s, r); len(found) > 0 {
				t.Fatalf("%+v:\n%s", s, strings.Join(found, "\n"))
			}
			if again, _ := Make(s); !reflect.DeepEqual(r, again) {
				t.Fatalf("%+v: another result the second time", s)
			}
		}
	}
}

// The second of a kind stands beside the first, and the third beside both.
func TestASecondOfItsKindFindsAPlace(t *testing.T) {
	t.Parallel()
	for _, f := range scripted {
		for i, s := range variants(f) {
			if i%(5**stride) != 0 {
				continue
			}
			for range 3 {
				r, err := Make(s)
				if err != nil {
					t.Fatalf("%+v: %v", s, err)
				}
				if found := problems(s, r); len(found) > 0 {
					t.Fatalf("%+v:\n%s", s, strings.Join(found, "\n"))
				}
				s.Paths = append(s.Paths, pathsOf(r.Files)...)
			}
		}
	}
}

// Names of which no ASCII is left but a kind: what is made of them has names that differ all the same.
func TestNamesOfOtherScripts(t *testing.T) {
	t.Parallel()
	for _, f := range scripted {
		for _, kind := range append([]Kind{Test}, kinds...) {
			for _, words := range [][]string{{"项目", "form"}, {"项目", "list"}, {"项目", "page"}, {"項", "目", "form"}, {"\u0300", "form"}} {
				s := Spec{Framework: f, Kind: kind, Name: words, Subject: Page}
				r, err := Make(s)
				if err != nil {
					t.Fatalf("%+v: %v", s, err)
				}
				if found := problems(s, r); len(found) > 0 {
					t.Errorf("%+v:\n%s", s, found[0])
				}
			}
		}
	}
}

func TestWhateverTheSpec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySpec(t, scripted)
		r, err := Make(s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		if found := problems(s, r); len(found) > 0 {
			t.Fatalf("%+v:\n%s", s, strings.Join(found, "\n"))
		}
	})
}

// anySpec is a Spec within the bounds, hostile in all else.
func anySpec(t *rapid.T, frameworks []Framework) Spec {
	word := rapid.OneOf(rapid.SampledFrom([]string{
		"user", "users", "name", "class", "404", "naïve", "项目", "id", "error", "new", "", "list", "form", "page", "constructor", "__proto__", "styles", "props", "children",
		"use", "key", "ref", "event", "React", "FragmenT", "${1}", "*/", "</p>", "{", "}", "'", "\"", "`", "\\", "\n", "<%", "%>", "values", "errors", "index", "api",
	}), rapid.StringN(0, 8, 12))
	field := rapid.Custom(func(t *rapid.T) Field {
		return Field{
			Name:     rapid.SliceOfN(word, 0, 3).Draw(t, "words"),
			Type:     rapid.SampledFrom([]string{text, longtext, email, password, number, boolean, date, url, tel}).Draw(t, "type"),
			Required: rapid.Bool().Draw(t, "required"),
		}
	})
	s := Spec{
		Framework:  rapid.SampledFrom(frameworks).Draw(t, "framework"),
		Kind:       rapid.SampledFrom(append([]Kind{Test}, kinds...)).Draw(t, "kind"),
		Name:       rapid.SliceOfN(word, 0, 6).Draw(t, "name"),
		Fields:     rapid.SliceOfN(field, 0, maxFields).Draw(t, "fields"),
		Table:      rapid.Bool().Draw(t, "table"),
		Utility:    rapid.SampledFrom(utilities).Draw(t, "utility"),
		Subject:    rapid.SampledFrom(kinds).Draw(t, "subject"),
		Methods:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}), 0, 5, rapid.ID[string]).Draw(t, "methods"),
		TypeScript: rapid.Bool().Draw(t, "ts"),
		Paths:      anyPaths(t),
	}
	if rapid.Bool().Draw(t, "existing") {
		s.SubjectPath = rapid.SampledFrom([]string{
			"/src/components/UserCard.jsx", "/it's/A b.tsx", "/index.js", "/src/useThing.ts", "/src/lib/to-do.mjs", "/app/api/todos/route.ts", "/src/404.js", "/src/项目.jsx", "/a/b/c/d.js",
		}).Draw(t, "subjectPath")
		s.Paths = append(s.Paths, s.SubjectPath)
	}
	return s
}

// anyPaths are files in the way: of the folders that blueprints use, instead of them, and nowhere near.
func anyPaths(t *rapid.T) []string {
	segment := rapid.SampledFrom([]string{
		"src", "components", "pages", "app", "api", "lib", "hooks", "utils", "routes", "stores", "views", "client", "node_modules", "a b", "it's", "package.json", "index.js",
		"User.jsx", "UserList.tsx", "userform.JSX", "todos", "users.js", "useUsers.ts", "vite.config.js", "vitest.config.ts", "page.jsx", "route.js", "layout.tsx", "server.cjs", "项目",
	})
	n := rapid.IntRange(0, 12).Draw(t, "paths")
	var paths []string
	for i := range n {
		p := "/" + strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, fmt.Sprint("path", i)), "/")
		fits := true
		for _, other := range paths {
			fits = fits && other != p && !strings.HasPrefix(other, p+"/") && !strings.HasPrefix(p, other+"/")
		}
		if fits {
			paths = append(paths, p)
		}
	}
	return paths
}

// What acts in the browser says so in Next.js: a hook or a handler without the directive fails when the page is made.
func TestNextMarksWhatActsInTheBrowser(t *testing.T) {
	t.Parallel()
	acts := []string{"useState", "useEffect", "useRef", "useCallback", "useSyncExternalStore", "onSubmit={create", "onChange={handle", "onClick={() =>", "from 'zustand'"}
	for _, s := range variants(Next) {
		r, err := Make(s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		for _, file := range r.Files {
			if strings.Contains(file.Path, ".test.") || strings.Contains(file.Content, "from './actions") || strings.HasPrefix(file.Content, "'use client';\n") {
				continue
			}
			for _, act := range acts {
				if strings.Contains(file.Content, act) {
					t.Errorf("%+v: %s acts (%s) without saying so", s, file.Path, act)
				}
			}
		}
	}
}

func TestSpecsThatAskForWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Spec{
		"the framework":   {Framework: "cobol", Kind: Page},
		"the kind":        {Framework: React, Kind: "poem"},
		"no tests":        {Framework: React, Kind: Test, Subject: Test},
		"subject must":    {Framework: React, Kind: Test, Subject: Page, SubjectPath: "a.js"},
		"no utility":      {Framework: React, Kind: Utility, Utility: "magic"},
		"the name has":    {Framework: React, Kind: Page, Name: []string{strings.Repeat("a", maxNameBytes+1)}},
		"21 fields":       {Framework: React, Kind: Form, Fields: make([]Field, maxFields+1)},
		"unknown type":    {Framework: React, Kind: Form, Fields: []Field{{[]string{"a"}, "colour", false}}},
		"name of field 1": {Framework: React, Kind: Form, Fields: []Field{{[]string{strings.Repeat("a", maxFieldBytes+1)}, text, false}}},
		"the method":      {Framework: React, Kind: Endpoint, Methods: []string{"BREW"}},
	} {
		if _, err := Make(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

// Things lie where their like lies.
func TestPlaces(t *testing.T) {
	t.Parallel()
	user := []string{"user", "profile"}
	for _, c := range []struct {
		s    Spec
		want string
	}{
		{Spec{Framework: React, Kind: Component, Name: user}, "/src/components/UserProfile.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/components/A.jsx"}}, "/components/UserProfile.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/web/package.json", "/web/src/App.jsx"}}, "/web/src/components/UserProfile.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/node_modules/x/components/A.js"}}, "/src/components/UserProfile.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/src/components/userprofile.tsx"}}, "/src/components/UserProfile2.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/src/components/UserProfile.module.css", "/src/components/UserProfile2.jsx"}}, "/src/components/UserProfile3.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/src/components"}}, "/src/components2/UserProfile.jsx"},
		{Spec{Framework: React, Kind: Component, Name: user, Paths: []string{"/src/components/UserProfile.jsx/index.md"}}, "/src/components/UserProfile2.jsx"},
		{Spec{Framework: Next, Kind: Component, Name: user, Paths: []string{"/app/components/A.jsx"}}, "/app/components/UserProfile.jsx"},
		{Spec{Framework: Next, Kind: Page, Name: user}, "/app/user-profile/page.jsx"},
		{Spec{Framework: Next, Kind: Page, Name: user, TypeScript: true, Paths: []string{"/src/app/layout.tsx"}}, "/src/app/user-profile/page.tsx"},
		{Spec{Framework: Next, Kind: Page, Name: user, Paths: []string{"/pages/index.js"}}, "/pages/user-profile.jsx"},
		{Spec{Framework: Next, Kind: Page, Name: user, Paths: []string{"/pages/index.js", "/app/layout.js"}}, "/app/user-profile/page.jsx"},
		{Spec{Framework: Next, Kind: Page, Name: []string{"404"}}, "/app/not-found.jsx"},
		{Spec{Framework: Next, Kind: Endpoint, Name: user, Paths: []string{"/pages/index.js"}}, "/pages/api/user-profiles/index.js"},
		{Spec{Framework: Express, Kind: Endpoint, Name: user}, "/src/routes/userProfiles.js"},
		{Spec{Framework: Express, Kind: Endpoint, Name: user, Paths: []string{"/server.cjs", "/routes/a.cjs"}}, "/routes/userProfiles.cjs"},
		{Spec{Framework: Express, Kind: Test, Subject: Endpoint, SubjectPath: "/routes/a.ts", TypeScript: true, Paths: []string{"/routes/a.ts"}}, "/routes/a.test.ts"},
	} {
		r, err := Make(c.s)
		if err != nil {
			t.Errorf("%+v: %v", c.s, err)
			continue
		}
		if got := r.Files[0].Path; got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
}

func TestCommonJS(t *testing.T) {
	t.Parallel()
	r, err := Make(Spec{Framework: Express, Kind: Endpoint, Name: []string{"todos"}, Paths: []string{"/server.cjs"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range r.Files {
		if strings.Contains(file.Content, "import ") || strings.Contains(file.Content, "export ") || !strings.Contains(file.Content, "require(") || !strings.Contains(file.Content, "module.exports = {") {
			t.Errorf("%s is no CommonJS module:\n%s", file.Path, file.Content)
		}
	}
}

func TestIdentifiersThatMeanSomething(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][3]string{
		"user":        {"user", "User", "user"},
		"class":       {"classItem", "Class", "classValue"},
		"error":       {"errorItem", "ErrorItem", "error"},
		"id":          {"idItem", "Id", "identifier"},
		"constructor": {"constructorItem", "Constructor", "constructorValue"},
		"map":         {"map", "MapItem", "map"},
		"arguments":   {"argumentsItem", "Arguments", "argumentsValue"},
	} {
		n := nameOf([]string{word}, "item")
		if got := [3]string{jsVariable(n), jsType(n), jsKey(n.camel())}; got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
