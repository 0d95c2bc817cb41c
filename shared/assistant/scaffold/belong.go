package scaffold

import (
	"slices"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// belongs reports that a part is more of the request before, no request of its own.
func belongs(part []word, before *request) bool {
	if before.verb >= installVerb && before.verb != testVerb {
		return false
	}
	if isAddition(part) {
		return true
	}
	first := part[0]
	awaits := before.awaitsFields() || before.inFields() && before.awaitsBullets()
	if first.before >= stop && (!first.bullet || !awaits) {
		return startsFields(part)
	}
	v, rest := stripVerb(part)
	if mergesVerb(v, part, rest, before) {
		return true
	}
	if before.listsFields() && (fieldTypes.of(first.low) != "" || first.is(determiners) && !hasKind(part)) {
		return true
	}
	inFields := before.inFields() || before.awaitsFields()
	if v != noVerb && (!inFields || isObject(rest) || v != addVerb && hasKind(rest)) {
		return false
	}
	return inFields && !asksAnew(part, before)
}

// listsFields reports a form that is for fields: "a form for name, email and message".
func (r *request) listsFields() bool {
	if r.kind == nil || r.kind.kind != blueprint.Form || len(r.tail) == 0 {
		return false
	}
	last := r.tail[len(r.tail)-1]
	return last.lead == leadFor && len(last.words) > 0 && (last.words[0].low == "name" || fieldTypes.of(last.words[0].low) != "")
}

// awaitsBullets reports that nothing but items of a list, or nothing at all, follows the word that leads to the fields.
func (r *request) awaitsBullets() bool {
	words := r.tail[len(r.tail)-1].words
	return len(words) == 0 || words[0].bullet
}

// mergesVerb reports that a part's verb is one of an endpoint's methods, not a request: "an endpoint to list and delete users".
func mergesVerb(v verb, part, rest []word, before *request) bool {
	if before.kind == nil || before.kind.kind != blueprint.Endpoint {
		return false
	}
	if part[0].method != "" && verbOf(part[0]) == noVerb && part[0].before < stop {
		return true
	}
	led := slices.ContainsFunc(before.tail, func(c clause) bool { return c.lead == leadDo || c.lead == leadFor })
	bare := len(rest) < 3 && !slices.ContainsFunc(rest, word.isPath) && !hasKind(rest)
	_, crud := crudVerbs.look(part[0].low)
	return led && bare && crud && v != installVerb
}

// isAddition reports a sentence that goes on about the thing before: "It should have …", "with …".
func isAddition(part []word) bool {
	rest := part
	if rest[0].is(withWords) {
		return len(rest) > 1
	}
	definite := rest[0].low == "the" && len(rest) > 2 && hasKind(rest[1:2])
	if !rest[0].is(pronouns) && !definite {
		return false
	}
	for _, w := range rest[1:min(len(rest), 5)] {
		if w.is(haveWords) {
			return true
		}
	}
	return false
}

// startsFields reports a line such as "Fields: name, email".
func startsFields(part []word) bool {
	for i, w := range part[:min(len(part), 3)] {
		if w.is(fieldHeads) && (w.colon || i+1 < len(part) && part[i+1].is(setOf("are is should"))) {
			return true
		}
	}
	return false
}

func hasKind(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { _, ok := thingOf(w); return ok })
}

// asksAnew reports that a part of a list of fields is a thing of its own: "and a contact page", "and tests".
func asksAnew(rest []word, before *request) bool {
	if len(rest) == 0 {
		return false
	}
	var kind *thing
	at := 0
	for i, w := range rest {
		if t, ok := thingOf(w); ok {
			kind, at = &t, i
		} else if w.is(forWords) || w.is(withWords) || w.is(doWords) {
			break
		}
	}
	switch {
	case kind == nil:
		return false
	case kind.kind == blueprint.Test:
		return at <= 2
	case kind.kind == blueprint.Utility && kind.utility == "client":
		return false
	}
	article := rest[0].is(determiners)
	return article && (at >= 2 || at == 1 && len(rest) > 2) || rest[0].isCamel() && at == 1 || before.kind != nil && before.kind.plural && at >= 1 && article
}
