package blueprint

import "testing"

func TestCasings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words                                       []string
		noun                                        string
		pascal, camel, kebab, title, sentence, path string
	}{
		{[]string{"user", "profile"}, "component", "UserProfile", "userProfile", "user-profile", "User Profile", "User profile", "user-profile"},
		{[]string{"404"}, "page", "Page404", "page404", "page-404", "404", "404", "404"},
		{[]string{"class"}, "item", "Class", "class", "class", "Class", "Class", "class"},
		{[]string{"naïve", "café"}, "page", "NaiveCafe", "naiveCafe", "naive-cafe", "Naïve Café", "Naïve café", "naive-cafe"},
		{[]string{"项目"}, "component", "Component", "component", "component", "项目", "项目", "component"},
		{[]string{"项目", "list"}, "component", "ComponentList", "componentList", "component-list", "项目 List", "项目 list", "component-list"},
		{[]string{"项目", "form"}, "form", "Form", "form", "form", "项目 Form", "项目 form", "form"},
		{[]string{"404", "page"}, "page", "Page404", "page404", "page-404", "404 Page", "404 page", "404"},
		{nil, "form", "Form", "form", "form", "Form", "Form", "form"},
		{[]string{"'; drop", "table--"}, "page", "DropTable", "dropTable", "drop-table", "Drop Table", "Drop table", "drop-table"},
		{[]string{"</script>", "*/", "\x00", "\xff"}, "page", "Script", "script", "script", "Script", "Script", "script"},
		{[]string{"faq"}, "page", "Faq", "faq", "faq", "FAQ", "FAQ", "faq"},
		{[]string{"straße", "12", "3"}, "page", "Strasse12_3", "strasse12_3", "strasse-12-3", "Straße 12 3", "Straße 12 3", "strasse-12-3"},
		{[]string{"e-mail"}, "field", "Email", "email", "email", "Email", "Email", "email"},
		{[]string{"user's"}, "field", "Users", "users", "users", "Users", "Users", "users"},
	} {
		n := nameOf(c.words, c.noun)
		got := [...]string{n.pascal(), n.camel(), n.kebab(), n.title(), n.sentence(), n.path()}
		if want := [...]string{c.pascal, c.camel, c.kebab, c.title, c.sentence, c.path}; got != want {
			t.Errorf("%q: %q, want %q", c.words, got, want)
		}
	}
}

func TestWithAndWithoutTheKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, with, without string }{
		{"contact", "ContactForm", "Contact"}, {"contact form", "ContactForm", "Contact"}, {"form", "Form", "Form"}, {"form form", "Form", "Form"},
	} {
		n := nameOf([]string{c.in}, "component")
		if got := n.with("form").pascal(); got != c.with {
			t.Errorf("%s with: %s, want %s", c.in, got, c.with)
		}
		if got := n.without("form").pascal(); got != c.without {
			t.Errorf("%s without: %s, want %s", c.in, got, c.without)
		}
	}
}

func TestPlurals(t *testing.T) {
	t.Parallel()
	for one, many := range map[string]string{
		"user": "users", "category": "categories", "day": "days", "box": "boxes", "dish": "dishes", "match": "matches", "address": "addresses", "class": "classes",
		"person": "people", "child": "children", "mouse": "mice", "status": "statuses", "bus": "buses", "movie": "movies", "cookie": "cookies", "analysis": "analyses",
		"house": "houses", "size": "sizes", "cache": "caches", "news": "news", "data": "data", "photo": "photos", "hero": "heroes", "leaf": "leaves",
		"invoice": "invoices", "purchase": "purchases", "quiz": "quizzes", "image": "images", "key": "keys", "reply": "replies", "tax": "taxes",
	} {
		for _, word := range []string{one, many} {
			if got := pluralOf(word); got != many {
				t.Errorf("plural of %s: %s, want %s", word, got, many)
			}
			if got := singularOf(word); got != one {
				t.Errorf("singular of %s: %s, want %s", word, got, one)
			}
		}
	}
	for _, word := range []string{"", "404", "项目", "café"} {
		if got := pluralOf(word); got != word && word != "" && word[len(word)-1] < 0x80 && word != "404" {
			t.Errorf("plural of %s: %s", word, got)
		}
	}
}
