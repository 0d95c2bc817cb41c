package render

import (
	"strings"
	"time"
	"unicode"

	"devplatform/shared/excerpt"
	"devplatform/shared/invisible"
	"devplatform/shared/mail"
)

// maxValue is the maximum length of a value in a mail, in bytes. An e-mail address is never longer, so the reader can
// compare the whole address.
const maxValue = 254

// part is a part of a paragraph: words of the service, or a value that a user chose. The layouts isolate values:
// right-to-left text in a value must not change the order of the words around it.
type part struct {
	Text    string
	IsValue bool
}

type paragraph []part

// values are the values that the words of a message contain.
type values struct {
	message mail.Message
	service string
}

// of returns the value with a name, without characters and links that could mislead the reader.
func (v values) of(name string) string {
	switch name {
	case "username":
		return unlinked(clean(v.message.Username))
	case "email":
		return clean(v.message.Values[name]) // not changed, because the reader compares it
	}
	return unlinked(clean(v.message.Values[name]))
}

// paragraphs replaces the names in braces with their values. Each line of text is a paragraph.
func (v values) paragraphs(text string) (all []paragraph) {
	for line := range strings.Lines(text) {
		var p paragraph
		for rest := strings.TrimSpace(line); rest != ""; {
			before, after, found := strings.Cut(rest, "{")
			if before != "" {
				p = append(p, part{Text: before})
			}
			if !found {
				break
			}
			var name string
			name, rest, _ = strings.Cut(after, "}")
			if name == "service" {
				p = append(p, part{Text: v.service})
			} else {
				p = append(p, part{Text: v.of(name), IsValue: true})
			}
		}
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// plain returns a line of text with its values in place of their names, for a header.
func (v values) plain(text string) string {
	var b strings.Builder
	for _, p := range v.paragraphs(text) {
		for _, part := range p {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// details returns the time, the IP address and the browser of the request that caused the mail, or nothing if no
// request caused it.
func (v values) details(at time.Time) (all []paragraph) {
	add := func(label, value string) {
		if value != "" {
			all = append(all, paragraph{{Text: label + ": "}, {Text: value, IsValue: true}})
		}
	}
	if v.message.Values["ip"] == "" && v.message.Values["userAgent"] == "" {
		return nil
	}
	add("Time", date(at))
	add("IP address", clean(v.message.Values["ip"]))
	add("Browser", unlinked(clean(v.message.Values["userAgent"])))
	return all
}

// clean returns a value without characters that could end a header or a line, that are invisible, or that change the
// direction of the text around them. It shortens long values.
func clean(value string) string {
	value = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar, invisible.Check(string(r)) != "":
			return -1
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		}
		return r
	}, value)
	return excerpt.WithEllipsis(strings.TrimSpace(value), maxValue)
}

// unlinked returns a value that mail programs do not turn into a link, because users could otherwise advertise a URL in
// the name of a workspace. It adds an invisible character after each character that an address or a URL needs.
func unlinked(value string) string {
	const wordJoiner = "\u2060"
	return strings.NewReplacer(".", "."+wordJoiner, ":", ":"+wordJoiner, "/", "/"+wordJoiner, "@", "@"+wordJoiner).
		Replace(value)
}
