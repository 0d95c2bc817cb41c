package scaffold

import (
	"slices"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// nameIn is what the thing is called: what stands behind "called", else before the kind word, else behind it, else what it is for.
func nameIn(r *request, t thing) []string {
	for _, c := range r.tail {
		if c.lead == leadName {
			if name := nameOf(firstPart(c.words), true); len(name) > 0 {
				return tidyName(name, t)
			}
		}
	}
	before, behind := aroundKind(r.head)
	name := nameOf(before, false)
	if allAdjectives(before) {
		if later := nameOf(behind, false); len(later) > 0 {
			name = later
		} else if c, ok := clauseName(r, t); ok {
			name = c
		}
	}
	if len(name) == 0 {
		name, _ = clauseName(r, t)
	}
	if len(name) == 0 {
		name = otherKinds(before)
	}
	if w := newFile(r); w != nil && len(name) == 0 {
		name = nameOfFile("/" + w.text)
	}
	return tidyName(name, t)
}

// tidyName takes off what the kind says anyway.
func tidyName(name []string, t thing) []string {
	name = bounded(name)
	switch t.kind {
	case blueprint.Utility:
		name = withoutSuffix(name, "hook", "store", "helper", "helpers", "utils", "composable", "context", "provider")
		return withoutPrefix(name, "use")
	case blueprint.Form:
		return withoutSuffix(name, "form")
	case blueprint.Page:
		return withoutSuffix(name, "page", "screen")
	case blueprint.Component:
		return withoutSuffix(name, "component")
	case blueprint.List:
		return withoutSuffix(name, "list", "table")
	case blueprint.Endpoint:
		return withoutSuffix(name, "endpoint", "api", "handler", "controller")
	}
	return name
}

// aroundKind are the head's words before and behind the last kind word.
func aroundKind(head []word) (before, behind []word) {
	for i := len(head) - 1; i >= 0; i-- {
		if _, ok := thingOf(head[i]); ok {
			return head[:i], head[i+1:]
		}
	}
	return head, nil
}

// allAdjectives reports that the words hold no better name than how a thing is to be.
func allAdjectives(words []word) bool {
	for _, w := range words {
		if _, kind := thingOf(w); !kind && !w.is(adjectives) && !w.is(determiners) && !w.tech && w.method == "" {
			return false
		}
	}
	return true
}

// clauseName is the name in what a thing is of, for, or does.
func clauseName(r *request, t thing) ([]string, bool) {
	for _, c := range r.tail {
		words := firstPart(c.words)
		switch {
		case len(words) == 0 || c.lead == leadWith || c.lead == leadName || c.lead == leadFor && t.kind == blueprint.Form && listsFields(c.words):
			continue
		case c.lead == leadOther && !slices.ContainsFunc(words, func(w word) bool { return w.isPath() && t.kind == blueprint.Endpoint }):
			continue
		case c.lead == leadDo && t.kind == blueprint.Utility:
			words = infinitive(words)
		case c.lead == leadFor && t.kind == blueprint.Utility:
		case crudVerbs.of(words[0].low) != "":
			words = withoutCrud(c.words)
		case c.lead == leadDo && len(words) > 1 && t.kind != blueprint.Test: // that renders a card
			words = words[1:]
		}
		if name := nameOf(words, false); len(name) > 0 {
			return name, true
		}
	}
	return nil, false
}

// firstPart are the words up to the first gap.
func firstPart(words []word) []word {
	for i, w := range words {
		if i > 0 && w.before > space {
			return words[:i]
		}
	}
	return words
}

// withoutCrud takes the methods' verbs off: "list and delete users" is about users.
func withoutCrud(words []word) []word {
	for len(words) > 0 && crudVerbs.of(words[0].low) != "" {
		words = words[1:]
	}
	return firstPart(words)
}

// infinitive turns "formats dates" into "format dates", as functions are called.
func infinitive(words []word) []word {
	out := slices.Clone(words)
	for len(out) > 1 && out[0].is(setOf("can will should i we you")) {
		out = out[1:]
	}
	low := out[0].low
	if n := len(low); n > 3 && low[n-1] == 's' && low[n-2] != 's' && len(out) > 1 {
		out[0].text, out[0].low = low[:n-1], low[:n-1]
	}
	return out
}

// otherKinds is the name of a thing that is called like another kind: a test page, an api client.
func otherKinds(before []word) []string {
	for i := len(before) - 1; i >= 0; i-- {
		if t, ok := thingOf(before[i]); ok && !t.weak && before[i].low != "crud" {
			return parts(before[i].text)
		}
	}
	return nil
}

// fieldsIn reads the fields of a request.
func fieldsIn(r *request) (fields []blueprint.Field, unused []string) {
	for i, c := range r.tail {
		switch {
		case c.lead == leadWith, c.lead == leadShow && !hasKind(c.words) && (len(r.head) == 0 || len(nameOf(r.head, false)) > 0 || named(r)):
			f, extra := fieldsOf(c.words, true)
			fields, unused = append(fields, f...), append(unused, extra...)
		case c.lead == leadFor && i == 0 && r.kind != nil && r.kind.kind == blueprint.Form && listsFields(c.words):
			f, _ := fieldsOf(c.words, false)
			fields = append(fields, f...)
		}
	}
	return fields[:min(len(fields), maxFields)], unused
}

// named reports a name behind "called".
func named(r *request) bool {
	return slices.ContainsFunc(r.tail, func(c clause) bool { return c.lead == leadName })
}

// listsFields reports several words of known fields: "a form for name and email".
func listsFields(words []word) bool {
	several := slices.ContainsFunc(words[min(1, len(words)):], func(w word) bool { return w.before > space })
	return several && len(words) > 0 && (fieldTypes.of(words[0].low) != "" || words[0].low == "name")
}

// subjectWords are the words of what a test is about.
func subjectWords(r *request) []word {
	for _, c := range r.tail {
		c.words = slices.DeleteFunc(slices.Clone(c.words), func(w word) bool { return w.is(setOf("file code")) })
		if c.lead == leadFor || c.lead == leadDo || c.lead == leadOther && slices.ContainsFunc(c.words, word.isPath) {
			return c.words
		}
	}
	before, behind := aroundKind(r.head)
	if allAdjectives(before) && !hasKind(before) {
		return behind
	}
	return before
}

// readTest reads the subject of a test: what it is called and of which kind, as far as the words say.
func readTest(r *request) blueprint.Spec {
	words := subjectWords(r)
	if r.verb == testVerb {
		words = r.head
	}
	sub := request{verb: makeVerb}
	sub.extend(slices.DeleteFunc(slices.Clone(words), func(w word) bool { return things.of(w.low).kind == blueprint.Test }))
	spec := blueprint.Spec{Kind: blueprint.Test}
	t, _ := thingIn(&sub)
	spec.Subject, spec.Utility, spec.Table = t.kind, t.utility, t.table
	if in := bySuffix(intent{thing: t, spec: blueprint.Spec{Kind: t.kind}}, &sub); in.spec.Kind != t.kind {
		spec.Subject, spec.Utility, spec.Table, spec.Name = in.spec.Kind, in.spec.Utility, in.spec.Table, in.spec.Name
		return spec
	}
	spec.Name = nameIn(&sub, t)
	return spec
}
