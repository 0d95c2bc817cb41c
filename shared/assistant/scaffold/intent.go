package scaffold

import (
	"slices"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// deed is what a request comes to.
type deed uint8

const (
	unclear deed = iota
	makeThing
	addPackages
	removeFile
	renameFile
	explainFile
	removePackage
	change // of code that exists, which takes a language model
)

// intent is a request understood, as far as its own words go: the project has not been asked yet.
type intent struct {
	deed deed
	text string // the request's words
	// thing and spec are of makeThing; spec lacks framework, language and paths. thing.kind is empty where no word says it.
	thing thing
	spec  blueprint.Spec
	// framework is what the words name: a blueprint's, or another that there is none for.
	framework blueprint.Framework
	other     string
	// subject are the words that a test's subject is found by; none for "it".
	subject []word
	// unused are words that ask for what templates don't do.
	unused []string
	// files and to are the words of files, as they were written; of renameFile one each.
	files []word
	to    word
	// at is the file that a new thing is to be in, as it was written.
	at string
	// packages as they were written.
	packages []word
	// plural says that the kind word was one: it counts for its neighbours.
	plural bool
	linked bool
	// bare says that the words are nothing but a name.
	bare bool
}

// read understands a prompt.
func read(prompt string) []intent {
	words := wordsOf(prompt)
	requests := requestsOf(words)
	intents := make([]intent, 0, len(requests))
	for i := range requests {
		in := understand(&requests[i])
		intents = append(intents, in)
		if at := slices.IndexFunc(in.unused, asksTests); at >= 0 && in.deed == makeThing {
			intents[len(intents)-1].unused = slices.Delete(slices.Clone(in.unused), at, at+1)
			intents = append(intents, intent{deed: makeThing, thing: thing{kind: blueprint.Test}, spec: blueprint.Spec{Kind: blueprint.Test}, linked: true,
				framework: in.framework, other: in.other})
		}
	}
	return shareKinds(intents)
}

// asksTests reports that tests are wanted beside a thing.
func asksTests(extra string) bool {
	words := wordsOf(extra)
	return len(words) <= 3 && slices.ContainsFunc(words, func(w word) bool { return things.of(w.low).kind == blueprint.Test })
}

// understand reads one request.
func understand(r *request) intent {
	in := intent{text: r.text(), linked: r.linked}
	in.framework, in.other = frameworkIn(r.all)
	switch r.verb {
	case changeVerb:
		in.deed = change
		return in
	case askVerb:
		return in
	case installVerb:
		return readPackages(in, r)
	case removeVerb:
		return readRemoval(in, r)
	case renameVerb:
		return readRename(in, r)
	case explainVerb:
		in.deed = explainFile
		in.files = r.all
		return in
	case testVerb:
		in.deed = makeThing
		in.thing = thing{kind: blueprint.Test}
		in.subject = r.all
		in.spec = readTest(r)
		return in
	}
	return readThing(in, r)
}

// readThing reads what is to be made or added.
func readThing(in intent, r *request) intent {
	if r.verb == addVerb && (r.kind == nil || asksPackage(r)) && len(packagesIn(r.all, asksPackage(r))) > 0 {
		return readPackages(in, r)
	}
	if addsToThing(r) {
		in.deed = change
		return in
	}
	in.thing, in.bare = thingIn(r)
	if in.thing.kind == "" && !in.bare && !r.hasFields() {
		return in
	}
	if w := newFile(r); w != nil {
		in.at = w.text
		if in.thing.kind == "" {
			in.thing.kind, in.thing.utility = kindOfPath("/" + w.text)
			in.bare = false
		}
	}
	in.deed = makeThing
	in.plural = in.thing.plural
	in.spec.Kind, in.spec.Utility, in.spec.Table = in.thing.kind, in.thing.utility, in.thing.table
	in.spec.Name = nameIn(r, in.thing)
	in = bySuffix(in, r)
	in.spec.Fields, in.unused = fieldsIn(r)
	switch in.thing.kind {
	case blueprint.Endpoint:
		in.spec.Methods = methodsOf(r)
	case blueprint.Test:
		in.spec = readTest(r)
		in.subject = subjectWords(r)
	}
	if in.thing.route {
		in.spec.Methods = methodsOf(r)
	}
	return in
}

// newFile is the path with an extension that a request for a thing names: "create src/components/Chart.jsx".
func newFile(r *request) *word {
	asked := r.verb == makeVerb || r.verb == addVerb || r.kind != nil
	if !asked || r.kind != nil && (r.kind.kind == blueprint.Test || r.kind.kind == blueprint.Endpoint) {
		return nil
	}
	for i, w := range r.all {
		if w.isPath() && !w.tech && isSource(w.text) {
			return &r.all[i]
		}
	}
	return nil
}

// thingIn is what the words ask for; bare if no word says the kind, but there is a name.
func thingIn(r *request) (thing, bool) {
	if r.kind != nil {
		t := *r.kind
		if t.kind == blueprint.Component && t.weak {
			t = moreExact(t, r)
		}
		if t.kind == blueprint.Component {
			if noun, ok := nounIn(r.head); ok && noun.kind == blueprint.Form {
				return noun, false
			}
		}
		return t, false
	}
	if noun, ok := nounIn(r.head); ok {
		return noun, false
	}
	if w := lastName(r.head); w != nil && isHook(*w) {
		return thing{kind: blueprint.Utility, utility: "hook"}, false
	}
	if t, ok := kindInTail(r); ok {
		return t, false
	}
	return thing{}, r.verb <= addVerb && isName(r.head)
}

// moreExact is the kind that a component is said to be for: "a component for a login form" is a form.
func moreExact(t thing, r *request) thing {
	for _, c := range r.tail {
		if c.lead != leadFor && c.lead != leadDo && c.lead != leadShow {
			continue
		}
		for _, w := range c.words {
			if k, ok := thingOf(w); ok && (k.kind == blueprint.Form || k.kind == blueprint.List) {
				return k
			}
		}
	}
	return t
}

// nounIn is a thing by its own name at the end of the head.
func nounIn(head []word) (thing, bool) {
	for i := len(head) - 1; i >= 0; i-- {
		w := head[i]
		if _, kind := thingOf(w); kind || w.tech || w.is(fillers) {
			continue
		}
		if t, ok := nouns.look(w.low); ok && !w.quoted {
			return t, true
		}
		if p := parts(w.text); len(p) > 0 && w.isCamel() {
			t, ok := nouns.look(p[len(p)-1])
			if ok && t.kind == blueprint.Component {
				return t, true
			}
		}
		return thing{}, false
	}
	return thing{}, false
}

// kindInTail is a kind that comes late: "something that lists users in a table" is a table.
func kindInTail(r *request) (thing, bool) {
	if r.verb != makeVerb && r.verb != addVerb && !startsVague(r) {
		return thing{}, false
	}
	if !startsVague(r) {
		return thing{}, false
	}
	for _, c := range r.tail {
		for _, w := range c.words {
			if t, ok := thingOf(w); ok {
				return t, true
			}
		}
	}
	return thing{}, false
}

// startsVague reports that the head says no more than "something".
func startsVague(r *request) bool {
	return len(r.head) > 0 && !slices.ContainsFunc(r.head, func(w word) bool { return !w.is(pronouns) && !w.is(determiners) && !w.is(adjectives) })
}

// lastName is the last word of the head, if it is written like a name.
func lastName(head []word) *word {
	for i := len(head) - 1; i >= 0; i-- {
		if w := head[i]; w.isCamel() || w.quoted {
			return &head[i]
		}
	}
	return nil
}

func isHook(w word) bool {
	p := parts(w.text)
	return len(p) > 1 && p[0] == "use" && w.isCamel()
}

// isName reports words that could be a name and nothing else: "Footer", "pricing".
func isName(head []word) bool {
	return len(head) > 0 && len(head) <= 4 && len(nameOf(head, false)) > 0
}

// bySuffix takes the kind from a name in CamelCase where the words leave it open: UserForm, ContactPage, TodoList.
func bySuffix(in intent, r *request) intent {
	w := lastName(r.head)
	open := in.thing.kind == "" || in.thing.kind == blueprint.Component && in.thing.weak
	if w == nil || !open {
		return in
	}
	p := parts(w.text)
	if len(p) < 2 {
		return in
	}
	t, ok := things.look(p[len(p)-1])
	if !ok || t.route || t.kind == blueprint.Test || t.kind == blueprint.Endpoint && in.thing.kind != "" || t.kind == blueprint.Utility && in.thing.kind != "" {
		return in
	}
	in.thing.kind, in.thing.table, in.thing.utility, in.thing.weak, in.bare = t.kind, t.table, t.utility, false, false
	in.spec.Kind, in.spec.Table, in.spec.Utility = t.kind, t.table, t.utility
	in.spec.Name = withoutSuffix(p, p[len(p)-1])
	return in
}

// addsToThing reports that a thing which exists is to be changed: "add a phone field to the signup form".
func addsToThing(r *request) bool {
	if r.verb != addVerb && r.verb != makeVerb {
		return false
	}
	if r.kind != nil && r.kind.kind == blueprint.Test {
		return false
	}
	for _, c := range r.tail {
		if c.lead != leadDo && c.lead != leadOther || len(c.words) < 2 && !slices.ContainsFunc(c.words, word.isPath) {
			continue
		}
		if i := slices.IndexFunc(r.all, func(w word) bool { return w == c.words[0] }); i < 1 || !isTo(r.all[i-1]) {
			continue
		}
		if slices.ContainsFunc(c.words, func(w word) bool { return w.is(wholes) }) {
			continue
		}
		if c.words[0].is(determiners) || c.words[0].isPath() || c.words[0].is(pronouns) {
			return true
		}
	}
	return false
}

func isTo(w word) bool { return w.low == "to" || w.low == "into" || w.low == "inside" }

// shareKinds gives names without a kind the one of a neighbour in the plural: "pages about, contact and pricing", "Header and Footer
// components". What then has no kind is unclear.
func shareKinds(intents []intent) []intent {
	open := func(i int) bool { return intents[i].deed == makeThing && intents[i].thing.kind == "" }
	take := func(i, from int) {
		t := intents[from].thing
		intents[i].thing, intents[i].bare = t, false
		intents[i].spec.Kind, intents[i].spec.Utility, intents[i].spec.Table = t.kind, t.utility, t.table
	}
	for i := len(intents) - 2; i >= 0; i-- {
		next := intents[i+1]
		if open(i) && next.linked && next.deed == makeThing && next.thing.kind != "" && (next.plural || len(next.spec.Name) > 0) {
			take(i, i+1)
			intents[i].plural = next.plural
		}
	}
	from := -1
	for i := range intents {
		in := intents[i]
		switch {
		case in.deed != makeThing || i > 0 && !in.linked && !open(i):
			from = -1
		case open(i) && from >= 0:
			take(i, from)
		}
		if in.plural && in.thing.kind != "" {
			from = i
		}
	}
	return withoutEmpty(intents)
}

// withoutEmpty drops what only led to its neighbours ("Create these pages: …") and marks as unclear what has no kind.
func withoutEmpty(intents []intent) []intent {
	var out []intent
	for i, in := range intents {
		if in.deed == makeThing && in.thing.kind == "" {
			in.deed = unclear
		}
		if in.deed == makeThing && in.thing.kind == blueprint.Page && !in.plural && len(in.spec.Name) == 0 && i+1 < len(intents) && intents[i+1].linked {
			in.spec.Name = intents[i+1].spec.Name // a page with a contact form
		}
		lead := in.deed == makeThing && in.plural && len(in.spec.Name) == 0 && len(in.spec.Fields) == 0 && in.thing.kind != blueprint.Test
		if lead && i+1 < len(intents) && intents[i+1].deed == makeThing && intents[i+1].spec.Kind == in.spec.Kind {
			continue
		}
		out = append(out, in)
	}
	return out
}
