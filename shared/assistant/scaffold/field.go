package scaffold

import (
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

const maxFields = 20

// fieldTypes are words that say a field's type wherever they stand, by the blueprint's names for the types. Those of typeOnly are
// never part of the name.
var (
	fieldTypes = listed(map[string]string{
		"email":    "email e-mail mail",
		"password": "password passwd passphrase pwd pin",
		"tel":      "phone telephone tel mobile cell fax",
		"url":      "url website link homepage site uri href",
		"number": "age count quantity qty price amount total number year size score rating stock weight height cost salary num points level " +
			"width length duration percentage rank balance guests",
		"date":     "date birthday birthdate dob deadline due created updated published day",
		"longtext": "message description bio comment comments notes note content body feedback summary details about biography excerpt instructions review",
		"boolean": "newsletter terms agree agreement subscribe remember active enabled done completed consent verified accept optin opt-in featured " +
			"archived",
	})
	typeOnly = listed(map[string]string{
		"text":     "string str varchar",
		"longtext": "textarea longtext multiline markdown",
		"number":   "int integer int32 int64 float float64 double decimal numeric",
		"boolean":  "bool boolean checkbox toggle checkmark flag yes/no",
		"date":     "datetime timestamp date-picker datepicker",
	})
	// typeColon are types where they stand behind a name and a colon, or in brackets: price (number), bio: text.
	typeColon = listed(map[string]string{"text": "text", "email": "email", "password": "password", "number": "number", "date": "date", "url": "url",
		"tel": "tel phone", "boolean": "switch"})

	notInFields = setOf("field fields column columns input inputs box boxes property properties attribute attributes required optional mandatory " +
		"a an the and or their his her its user's users' both as each following these valid two three four five six some should must be are is")
	// notFields are what people ask for besides fields; templates have it or have not.
	notFields = setOf("validation validations styling styles style css tailwind tailwindcss bootstrap typescript javascript types typing typings state " +
		"error errors handling hooks tests test props animation animations dark-mode pagination sorting filtering search responsive accessibility loading " +
		"react vue svelte express next nextjs html submit submission button buttons icons authentication auth")
)

// fieldsOf reads a list of fields: "email, password and a newsletter checkbox", "name:string, age:int". What is no field is extra.
func fieldsOf(words []word, perWord bool) (fields []blueprint.Field, extra []string) {
	for _, part := range fieldParts(words, perWord) {
		f, ok := fieldOf(part)
		switch {
		case !ok:
			if text := joined(part); text != "" {
				extra = append(extra, text)
			}
		case len(fields) == maxFields:
			extra = append(extra, joined(part))
		case !slices.ContainsFunc(fields, func(g blueprint.Field) bool { return slices.Equal(g.Name, f.Name) }):
			fields = append(fields, f)
		}
	}
	return fields, extra
}

// fieldParts cuts a list at its gaps; perWord, where it has none, each word is a field: "name:string age:int".
func fieldParts(words []word, perWord bool) [][]word {
	var out [][]word
	for _, w := range words {
		typed := strings.Contains(strings.Trim(w.text, ":"), ":") && perWord
		if len(out) == 0 || w.before > space || typed {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], w)
	}
	return out
}

// fieldOf reads one field. ok is false where the words name none.
func fieldOf(words []word) (blueprint.Field, bool) {
	f := blueprint.Field{Required: true}
	stated, guess := "", ""
	optional, asked := false, false
	for i, w := range words {
		text, typed, colon := strings.Cut(w.text, ":")
		if colon && typed != "" {
			stated = statedType(typed)
		}
		low := strings.TrimSuffix(strings.ToLower(text), "?")
		optional = optional || low == "optional" || w.query || strings.HasSuffix(text, "?")
		asked = asked || low == "required" || low == "mandatory"
		behindColon := i > 0 && (words[i-1].colon || w.bracket)
		switch {
		case w.quoted:
			f.Name = append(f.Name, parts(w.text)...)
		case notInFields.of(low):
		case typeOnly.of(low) != "" && !colon:
			stated = typeOnly.of(low)
		case behindColon && typeColon.of(low) != "" && len(f.Name) > 0:
			stated = typeColon.of(low)
		default:
			for _, p := range parts(text) {
				f.Name = append(f.Name, p)
				if p != "number" || len(f.Name) == 1 { // an order's number is a text
					guess = better(guess, fieldTypes.of(p))
				}
			}
			if low != "number" {
				guess = better(guess, fieldTypes.of(low))
			}
		}
	}
	if len(f.Name) == 0 && stated != "" && !slices.ContainsFunc(words, func(w word) bool { return notFields.of(w.low) }) {
		f.Name = parts(words[len(words)-1].text) // a date, a checkbox: the type is its name as well
	}
	f.Name = bounded(f.Name)
	f.Type = firstOf(stated, guess, guessByShape(f.Name), "text")
	f.Required = asked || !optional && f.Type != "boolean"
	return f, len(f.Name) > 0 && len(words) <= 8 && !allNoFields(words)
}

// allNoFields reports that the words are about something else: validation, dark mode.
func allNoFields(words []word) bool {
	for _, w := range words {
		if notFields.of(w.low) {
			return true
		}
	}
	return false
}

// better keeps the later guess: in "email message" the head noun is the last.
func better(old, found string) string {
	if found != "" {
		return found
	}
	return old
}

// guessByShape goes by the form of the name: isAdmin and hasPaid are boolean, startAt is a date.
func guessByShape(name []string) string {
	if len(name) < 2 {
		return ""
	}
	switch {
	case name[0] == "is" || name[0] == "has" || name[0] == "can":
		return "boolean"
	case name[len(name)-1] == "at":
		return "date"
	}
	return ""
}

func statedType(s string) string {
	low := strings.ToLower(s)
	return firstOf(typeOnly.of(low), typeColon.of(low), fieldTypes.of(low), "text")
}

// firstOf is the first that is not empty.
func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func joined(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}
