package blueprint

import "strings"

// variant is a Spec that a test makes, by a name to find it by.
type variant struct {
	name string
	spec Spec
}

// everyType has a field of each type, required and not.
func everyType(required bool) []Field {
	var fields []Field
	for _, kind := range []string{text, longtext, email, password, number, boolean, date, url, tel} {
		fields = append(fields, Field{Name: []string{"my", kind}, Type: kind, Required: required})
	}
	return fields
}

// variantsOf are Specs that between them run through all that a framework's templates can do.
func variantsOf(f Framework, paths []string) []variant {
	var out []variant
	add := func(s Spec) {
		for _, ts := range []bool{false, true} {
			if ts && f == Go {
				continue
			}
			s.Framework, s.TypeScript = f, ts
			s.Paths = append(append([]string(nil), paths...), s.Paths...)
			name := string(s.Kind) + "-" + s.Utility + "-" + strings.Join(s.Name, "-")
			for _, part := range []struct {
				is   bool
				name string
			}{{s.Table, "table"}, {len(s.Fields) > 0, "fields"}, {len(s.Fields) > 2, "many"}, {len(s.Fields) > 0 && s.Fields[0].Required, "required"}, {ts, "ts"}, {s.Subject != "", string(s.Subject)}, {s.SubjectPath != "", "existing"}, {len(s.Methods) > 0, strings.Join(s.Methods, "-")}} {
				if part.is {
					name += "-" + part.name
				}
			}
			out = append(out, variant{name, s})
		}
	}
	both := func(s Spec) {
		add(s)
		test := s
		test.Kind, test.Subject = Test, s.Kind
		add(test)
	}
	words := strings.Fields
	few := []Field{{Name: words("name"), Type: text, Required: true}, {Name: words("home page"), Type: url}}
	for _, name := range []string{"user card", "navbar", "button", "confirm modal", "counter", "class", "news", "login", "footer"} {
		both(Spec{Kind: Component, Name: words(name)})
	}
	both(Spec{Kind: Component, Name: words("user profile"), Fields: everyType(true)})
	both(Spec{Kind: Component, Name: words("user profile"), Fields: everyType(false)})
	for _, name := range []string{"about", "home", "login", "404", "contact us", "class"} {
		both(Spec{Kind: Page, Name: words(name)})
	}
	both(Spec{Kind: Page, Name: words("users"), Fields: few})
	both(Spec{Kind: Page, Name: words("profile"), Fields: everyType(true)})
	both(Spec{Kind: Page, Name: words("profile"), Fields: everyType(false)})
	both(Spec{Kind: Endpoint, Name: words("users")})
	both(Spec{Kind: Endpoint, Name: words("order item"), Fields: everyType(true)})
	both(Spec{Kind: Endpoint, Name: words("news"), Fields: everyType(false), Methods: []string{"GET", "POST", "PUT", "PATCH", "DELETE"}})
	for _, methods := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "GET POST", "POST DELETE"} {
		both(Spec{Kind: Endpoint, Name: words("products"), Methods: words(methods)})
	}
	for _, name := range []string{"contact", "login", "sign up", "order", "search", "newsletter form", "status"} {
		both(Spec{Kind: Form, Name: words(name)})
	}
	for _, required := range []bool{true, false} {
		both(Spec{Kind: Form, Name: words("registration"), Fields: everyType(required)})
		for _, table := range []bool{true, false} {
			both(Spec{Kind: List, Name: words("users"), Table: table, Fields: everyType(required)})
		}
		for _, f := range everyType(required) {
			add(Spec{Kind: Form, Name: words("survey " + f.Type), Fields: []Field{f}})
			add(Spec{Kind: List, Name: words("things " + f.Type), Fields: []Field{f}, Table: required})
			add(Spec{Kind: Component, Name: words("thing " + f.Type), Fields: []Field{f}})
		}
		both(Spec{Kind: Utility, Utility: "helper", Name: words("order"), Fields: everyType(required)})
	}
	both(Spec{Kind: List, Name: words("news"), Table: true})
	both(Spec{Kind: List, Name: words("states")})
	for _, name := range []string{"toggle", "counter", "debounce", "local storage", "media query", "users", "use products"} {
		both(Spec{Kind: Utility, Utility: "hook", Name: words(name)})
	}
	both(Spec{Kind: Utility, Utility: "store", Name: words("users"), Fields: everyType(true)})
	both(Spec{Kind: Utility, Utility: "store", Name: words("cart")})
	for _, name := range []string{"format date", "price", "slugify", "debounce", "truncate text", "capitalize", "clamp", "email", "user"} {
		both(Spec{Kind: Utility, Utility: "helper", Name: words(name)})
	}
	both(Spec{Kind: Utility, Utility: "client", Name: words("orders"), Fields: everyType(false)})
	both(Spec{Kind: Utility, Name: words("users")})
	for subject, path := range subjectsOf(f) {
		add(Spec{Kind: Test, Subject: subject, SubjectPath: path, Name: words("user thing"), Paths: []string{path}})
	}
	return out
}

// subjectsOf are files that a project of the framework might have.
func subjectsOf(f Framework) map[Kind]string {
	switch f {
	case Vue:
		return map[Kind]string{Component: "/src/components/UserThing.vue", Utility: "/src/utils/thing.js"}
	case Svelte:
		return map[Kind]string{Component: "/src/lib/UserThing.svelte", Page: "/src/routes/thing/+page.svelte", Utility: "/src/lib/thing.js"}
	case Static:
		return map[Kind]string{Page: "/thing.html", Utility: "/js/thing.js"}
	}
	return map[Kind]string{Endpoint: "/internal/userthing/handler.go"}
}
