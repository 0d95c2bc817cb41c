package scaffold

import (
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

func setOf(words string) lexicon[string, bool] {
	return lazily(func() map[string]bool {
		set := map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			set[w] = true
		}
		return set
	})
}

// verb is what a request asks to do.
type verb uint8

const (
	noVerb verb = iota
	makeVerb
	addVerb     // make, or add a package
	installVerb // add a package
	removeVerb
	renameVerb
	explainVerb
	testVerb
	changeVerb // what templates can't do
	askVerb    // a question
)

var verbs = listed(map[verb]string{
	makeVerb:    "create make build generate write scaffold implement produce develop design code draft prepare provide setup bootstrap",
	addVerb:     "add include insert introduce",
	installVerb: "install npm yarn pnpm bun",
	removeVerb:  "delete remove erase rm unlink uninstall",
	renameVerb:  "rename move mv",
	explainVerb: "explain describe summarize summarise what what's whats how understand analyze analyse walk",
	testVerb:    "test",
	changeVerb: "fix change update edit refactor modify replace improve optimize optimise convert style restyle debug run deploy extend migrate " +
		"rewrite translate upgrade simplify integrate connect use ensure format lint undo revert upgrade bump downgrade reorder sort rearrange split merge",
	askVerb: "why when who where is are does do did tell show which should may shall don't dont never not",
})

var (
	// polite stands in front of a verb or where one would be.
	polite = setOf("please pls plz can could would will you i we i'd we'd i'll id like want wanna need to me us let's lets help just now then also " +
		"hey hi hello ok okay so give get my kindly quickly additionally afterwards great thanks thank go ahead there's should must have looking for try")
	// orders stand in front of a verb, or alone before a comma.
	orders      = setOf("next finally first second secondly third lastly")
	fillers     = setOf("please pls plz i we me us just kindly now also then")
	greetings   = setOf("hi hello hey hola greetings yo howdy morning evening afternoon")
	thanks      = setOf("thanks thank thx cheers ty")
	determiners = setOf("a an the my our your this these those some another new one two three four five few several any all more its their each every following")
	// adjectives say how, which templates don't ask; they are a name only where there is no other.
	adjectives = setOf("simple basic nice beautiful pretty modern responsive small reusable clean minimal accessible styled fancy good great cool quick " +
		"dummy generic custom complete full fully-featured functional typed working proper little big large tiny stateless stateful animated " +
		"interactive robust production-ready rest restful http json crud-like unit sortable paginated searchable dynamic separate missing own short")
	joiners = setOf("and & plus then also +")
	// pairs are names that have an "and" inside.
	pairs = listed(map[string]string{"conditions": "terms", "drop": "drag", "answers": "questions", "hide": "show", "filter": "search"})

	// withWords lead to the fields of a thing; so do those in fieldHeads, with a colon or without.
	withWords  = setOf("with having containing including includes contains has accepting taking asking collecting collect collects w/")
	showWords  = setOf("displaying showing shows displays show display listing lists list")
	haveWords  = setOf("have has contain contains include includes with having containing including accept accepts take takes show shows ask asks for")
	fieldHeads = setOf("field fields column columns input inputs property properties props attribute attributes col cols")
	nameWords  = setOf("called named titled name:")
	forWords   = setOf("for of about against covering")
	doWords    = setOf("to that which who for")
	inWords    = setOf("in using via on inside into under within by from at as like so when where if because after before")
	pronouns   = setOf("it them this that they these those itself there something anything everything stuff things thing one")
	// wholes are what a thing is added to without changing a thing that is there.
	wholes = setOf("project app application site website repo repository codebase api backend frontend server router workspace package.json go.mod dependencies deps packages")

	packageWords = setOf("package packages library libraries dependency dependencies module modules lib libs npm devdependency devdependencies")
	insideWords  = setOf("in inside of from within out")
	exceptWords  = setOf("except but not don't dont never without keep other besides unless if")
	// toolWords are libraries that people name beside a thing that is made without them, or with them anyway.
	toolWords   = setOf("css tailwind tailwindcss pinia zustand redux vuex jotai vitest jest mocha supertest axios bootstrap")
	folderWords = setOf("folder folders directory directories dir dirs")
	fileWords   = setOf("file files component components page pages module code script")
)

// thing is what a kind word means.
type thing struct {
	kind    blueprint.Kind
	utility string
	table   bool
	plural  bool
	// weak gives way to a kind before it: a form component is a form.
	weak bool
	// middleware is Express's alone.
	middleware bool
	// route is an endpoint or a page, whichever the framework has.
	route bool
}

var things = lazily(thingsOf)

func thingsOf() map[string]thing {
	out := map[string]thing{}
	both := func(t thing, singular, plurals string) {
		for w := range strings.FieldsSeq(singular) {
			out[w] = t
		}
		t.plural = true
		for w := range strings.FieldsSeq(plurals) {
			out[w] = t
		}
	}
	both(thing{kind: blueprint.Component, weak: true}, "component partial widget", "components partials widgets")
	both(thing{kind: blueprint.Page}, "page screen webpage", "pages screens webpages")
	both(thing{kind: blueprint.Page, weak: true}, "view", "views")
	both(thing{kind: blueprint.Page, route: true}, "route", "routes")
	both(thing{kind: blueprint.Endpoint}, "endpoint api handler controller crud resource", "endpoints apis handlers controllers resources")
	both(thing{kind: blueprint.Form}, "form", "forms")
	both(thing{kind: blueprint.List}, "list listing", "lists listings")
	both(thing{kind: blueprint.List, table: true}, "table datatable", "tables datatables")
	both(thing{kind: blueprint.Utility}, "utility util", "utilities utils")
	both(thing{kind: blueprint.Utility, utility: "hook"}, "hook composable", "hooks composables")
	both(thing{kind: blueprint.Utility, utility: "hook", middleware: true}, "middleware", "middlewares")
	both(thing{kind: blueprint.Utility, utility: "store"}, "store", "stores")
	both(thing{kind: blueprint.Utility, utility: "helper"}, "helper function", "helpers functions")
	both(thing{kind: blueprint.Utility, utility: "client"}, "client", "clients")
	both(thing{kind: blueprint.Test}, "test spec", "tests specs")
	return out
}

// nouns are things by their own name: a navbar is a component, whoever asks for one.
var nouns = lazily(nounsOf)

func nounsOf() map[string]thing {
	out := map[string]thing{}
	put := func(t thing, words string) {
		for w := range strings.FieldsSeq(words) {
			out[w] = t
		}
	}
	put(thing{kind: blueprint.Component}, "navbar nav navigation menu header footer sidebar button modal dialog card dropdown tooltip tabs accordion hero "+
		"carousel slider avatar badge spinner loader breadcrumb breadcrumbs pagination toast alert banner layout toolbar drawer stepper searchbar counter "+
		"gallery timeline progressbar chip popover skeleton toggle section buttons cards")
	put(thing{kind: blueprint.Form}, "login signup sign-up signin sign-in registration")
	put(thing{kind: blueprint.Page}, "dashboard homepage")
	return out
}

// frameworkWords name a framework wherever they stand; those of ambiguousFrameworks only behind "in" and its like, or right before a
// kind word.
var frameworkWords = lazily(func() map[string]blueprint.Framework {
	return map[string]blueprint.Framework{
		"react": blueprint.React, "react.js": blueprint.React, "reactjs": blueprint.React,
		"next.js": blueprint.Next, "nextjs": blueprint.Next, "next-js": blueprint.Next,
		"vue": blueprint.Vue, "vue.js": blueprint.Vue, "vuejs": blueprint.Vue, "vue3": blueprint.Vue,
		"svelte": blueprint.Svelte, "sveltekit": blueprint.Svelte, "svelte-kit": blueprint.Svelte, "svelte5": blueprint.Svelte,
		"expressjs": blueprint.Express, "express.js": blueprint.Express,
		"golang": blueprint.Go, "net/http": blueprint.Go,
		"vanilla": blueprint.Static,
	}
})

var ambiguousFrameworks = lazily(func() map[string]blueprint.Framework {
	return map[string]blueprint.Framework{
		"next": blueprint.Next, "express": blueprint.Express, "go": blueprint.Go, "html": blueprint.Static, "static": blueprint.Static,
		"html5": blueprint.Static, "plain": blueprint.Static, "node": blueprint.Express, "node.js": blueprint.Express, "nodejs": blueprint.Express,
	}
})

// otherFrameworks are well-known frameworks and languages that there are no blueprints for, by their proper names.
var otherFrameworks = lazily(func() map[string]string {
	return map[string]string{
		"angular": "Angular", "angularjs": "AngularJS", "solidjs": "Solid", "solid.js": "Solid", "qwik": "Qwik", "ember": "Ember", "astro": "Astro", "nuxt": "Nuxt",
		"nuxt.js": "Nuxt", "nuxtjs": "Nuxt", "remix": "Remix", "gatsby": "Gatsby", "preact": "Preact", "django": "Django", "flask": "Flask", "fastapi": "FastAPI", "rails": "Rails",
		"laravel": "Laravel", "symfony": "Symfony", "spring": "Spring", "nestjs": "NestJS", "nest.js": "NestJS", "fastify": "Fastify", "koa": "Koa", "hono": "Hono",
		"flutter": "Flutter", "react-native": "React Native", "jquery": "jQuery", "htmx": "htmx", "alpine.js": "Alpine.js", "alpinejs": "Alpine.js", "php": "PHP", "python": "Python", "java": "Java",
		"kotlin": "Kotlin", "swift": "Swift", "swiftui": "SwiftUI", "rust": "Rust", "ruby": "Ruby", "c#": "C#", "c++": "C++", "dart": "Dart", "elixir": "Elixir", "scala": "Scala",
		"perl": "Perl", "haskell": "Haskell", "lua": "Lua", "blazor": "Blazor", "graphql": "GraphQL", "cobol": "COBOL", "bash": "Bash", "sql": "SQL",
	}
})

// typeScript and javaScript are what people call the two.
var (
	typeScript = setOf("typescript ts tsx typescript-based")
	javaScript = setOf("javascript js jsx")
)

// thingOf is what a kind word means.
func thingOf(w word) (thing, bool) {
	if w.thing == nil {
		return thing{}, false
	}
	return *w.thing, true
}

// meaningOf is the meaning of a kind word, one letter wrong or two exchanged included; nil if it is none.
func meaningOf(w word) *thing {
	if w.quoted || w.isCamel() {
		return nil
	}
	t, ok := things.look(w.low)
	if !ok {
		t, ok = things.look(closest(w.low, thingWords()))
	}
	if !ok {
		return nil
	}
	return &t
}

// verbOf is the meaning of a word where a verb is expected.
func verbOf(w word) verb {
	if w.quoted {
		return noVerb
	}
	if v, ok := verbs.look(w.low); ok {
		return v
	}
	return verbs.of(closest(w.low, verbWords()))
}
