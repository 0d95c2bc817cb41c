package httpapi

import (
	"slices"
	"strings"

	"devplatform/shared/fault"
)

// ConditionInput receives the preconditions of a request. Inputs of operations that support them embed it.
type ConditionInput struct {
	IfMatch     string `header:"If-Match" doc:"Requires that the current entity tag is one of these. * matches any entity tag" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`
	IfNoneMatch string `header:"If-None-Match" doc:"Requires that the current entity tag is none of these. * requires that the resource does not exist" example:"*"`
}

// Preconditions parses the headers. Error: VALIDATION_FAILED.
func (in ConditionInput) Preconditions() (Preconditions, error) {
	return ParsePreconditions(in.IfMatch, in.IfNoneMatch)
}

// Preconditions are the conditions of If-Match and If-None-Match (RFC 9110 §13). The zero value has no conditions.
type Preconditions struct{ match, noneMatch tagList }

// tagList is a list of entity tags, or *, which matches any entity tag.
type tagList struct {
	any  bool
	tags []entityTag
}

// entityTag is a tag without its quotes.
type entityTag struct {
	weak   bool
	opaque string
}

// ParsePreconditions parses the values of the two headers: "*", or entity tags separated by commas. An absent header is
// "". A tag without quotes is treated as if it had them. Error: VALIDATION_FAILED, which names the header.
func ParsePreconditions(ifMatch, ifNoneMatch string) (Preconditions, error) {
	var p Preconditions
	var problems []fault.Problem
	for _, header := range []struct {
		name, value string
		list        *tagList
	}{{"If-Match", ifMatch, &p.match}, {"If-None-Match", ifNoneMatch, &p.noneMatch}} {
		list, ok := parseTags(header.value)
		if !ok {
			problems = append(problems, fault.Field(header.name, "must be * or a comma-separated list of entity tags"))
		}
		*header.list = list
	}
	if problems != nil {
		return Preconditions{}, fault.Invalid(problems...)
	}
	return p, nil
}

// IsZero reports whether there are no conditions.
func (p Preconditions) IsZero() bool { return p.match.isZero() && p.noneMatch.isZero() }

// Errors of a change whose preconditions are not met.
var (
	ErrIfMatch = fault.New(
		fault.CodePreconditionFailed, "If-Match: the current version does not match. Read the resource again.")
	ErrIfNoneMatch = fault.New(
		fault.CodePreconditionFailed, "If-None-Match: the resource exists and matches. To change it, send If-Match.")
)

// Check checks the conditions against the current entity tag, which is "" if the resource does not exist. Error:
// PRECONDITION_FAILED.
func (p Preconditions) Check(current string) error {
	if !p.match.isZero() && !p.match.has(current, false) {
		return ErrIfMatch
	}
	if p.noneMatch.has(current, true) {
		return ErrIfNoneMatch
	}
	return nil
}

// NotModified reports whether the client already has the current version. The response to a GET is then a 304 without
// a body.
func (p Preconditions) NotModified(current string) bool { return p.noneMatch.has(current, true) }

func (l tagList) isZero() bool { return !l.any && l.tags == nil }

// has reports whether the list matches the current entity tag, which is "" if the resource does not exist. Weak tags
// match only in a weak comparison (RFC 9110 §8.8.3.2).
func (l tagList) has(current string, compareWeakly bool) bool {
	if compareWeakly {
		current = strings.TrimPrefix(current, "W/")
	}
	return current != "" && (l.any || slices.ContainsFunc(l.tags, func(t entityTag) bool {
		return (compareWeakly || !t.weak) && `"`+t.opaque+`"` == current
	}))
}

// parseTags parses the value of a header. It returns the zero list if the header is absent, and false if it is invalid.
func parseTags(header string) (tagList, bool) {
	if header == "" {
		return tagList{}, true
	}
	rest := strings.Trim(header, blanks)
	if rest == "*" {
		return tagList{any: true}, true
	}
	var list tagList
	for {
		rest = strings.TrimLeft(rest, blanks+",") // RFC 9110 §5.6.1.2: empty elements are ignored
		if rest == "" {
			return list, list.tags != nil
		}
		tag, after, ok := cutTag(rest)
		rest = strings.TrimLeft(after, blanks)
		if !ok || rest != "" && rest[0] != ',' {
			return tagList{}, false
		}
		list.tags = append(list.tags, tag)
	}
}

const blanks = " \t"

// cutTag returns the entity tag at the beginning of a text, and the text after it. It returns false if the text does
// not begin with a valid entity tag.
func cutTag(text string) (tag entityTag, rest string, ok bool) {
	text, tag.weak = strings.CutPrefix(text, "W/")
	if quoted, found := strings.CutPrefix(text, `"`); found {
		tag.opaque, rest, ok = strings.Cut(quoted, `"`)
		return tag, rest, ok && !strings.ContainsFunc(tag.opaque, notInTag)
	}
	end := strings.IndexAny(text, blanks+",")
	if end < 0 {
		end = len(text)
	}
	tag.opaque = text[:end]
	ok = tag.opaque != "" && tag.opaque != "*" && !strings.Contains(tag.opaque, `"`) &&
		!strings.ContainsFunc(tag.opaque, notInTag)
	return tag, text[end:], ok
}

// notInTag reports whether a character may not occur in an entity tag.
func notInTag(r rune) bool { return r <= ' ' || r == 0x7f }
