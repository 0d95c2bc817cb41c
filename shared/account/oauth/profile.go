package oauth

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxSubject = 255 // bytes
	maxEmails  = 100
	maxAddress = 254 // bytes; RFC 5321 §4.5.3.1.3, without the angle brackets
)

// profile is the user resource of any provider: it has the fields of all providers. A field of an unexpected type is
// ignored. Only the subject is required.
type profile struct {
	Sub       jsontext.Value `json:"sub"`
	ID        jsontext.Value `json:"id"`
	UUID      jsontext.Value `json:"uuid"`
	AccountID jsontext.Value `json:"account_id"`

	Login             text `json:"login"`              // GitHub, Gitea
	Username          text `json:"username"`           // GitLab, Bitbucket
	PreferredUsername text `json:"preferred_username"` // OpenID Connect
	Nickname          text `json:"nickname"`           // Bitbucket

	Email         text `json:"email"`
	EmailVerified flag `json:"email_verified"` // OpenID Connect
	ConfirmedAt   text `json:"confirmed_at"`   // GitLab: when the address was confirmed, or null
}

// identity returns the identity of the user, without its Provider.
func (u profile) identity(p preset) Identity {
	identity := Identity{
		Subject: u.subject(p.subject),
		Login:   string(cmp.Or(u.Login, u.Username, u.PreferredUsername, u.Nickname)),
	}
	own := emailEntry{Email: u.Email, Verified: u.EmailVerified || u.ConfirmedAt != "", Primary: true}
	identity.Emails = emailList{own}.emails()
	return identity
}

// subject returns the first valid ID among the named fields.
func (u profile) subject(names []string) string {
	fields := map[string]jsontext.Value{"sub": u.Sub, "id": u.ID, "uuid": u.UUID, "account_id": u.AccountID}
	for _, name := range names {
		if s := subjectOf(fields[name]); s != "" {
			return s
		}
	}
	return ""
}

// subjectOf returns the text of an ID that is a string or a positive integer, or "". It does not convert an integer to
// float64, because different integers above 2⁵³ can have the same float64.
func subjectOf(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil || len(s) > maxSubject || strings.ContainsFunc(s, unprintable) {
			return ""
		}
		return s
	case '0':
		s := string(v)
		if len(s) > maxSubject || s == "0" || strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
			return ""
		}
		return s
	default:
		return ""
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

// emailEntry is an e-mail address in the response of any provider: it has the fields of GitHub, Gitea, Bitbucket,
// GitLab and OpenID Connect.
type emailEntry struct {
	Email         text `json:"email"`
	Verified      flag `json:"verified"`
	EmailVerified flag `json:"email_verified"`
	IsConfirmed   flag `json:"is_confirmed"`
	ConfirmedAt   text `json:"confirmed_at"`
	Primary       flag `json:"primary"`
	IsPrimary     flag `json:"is_primary"`
}

// emailList is a list of addresses: an array, or Bitbucket's page {"values": […]}.
type emailList []emailEntry

// UnmarshalJSON implements json.Unmarshaler.
func (l *emailList) UnmarshalJSON(data []byte) error {
	if jsontext.Value(data).Kind() == '[' {
		return json.Unmarshal(data, (*[]emailEntry)(l))
	}
	var page struct {
		Values []emailEntry `json:"values"`
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return err
	}
	if page.Values == nil {
		return errInvalid
	}
	*l = page.Values
	return nil
}

// emails returns the first maxEmails well-formed addresses. An address that is listed twice is returned once, and is
// verified only if all its entries are.
func (l emailList) emails() []Email {
	var emails []Email
	index := make(map[string]int, len(l))
	for _, entry := range l {
		address := strings.TrimSpace(string(entry.Email))
		if !isAddress(address) {
			continue
		}
		verified := bool(entry.Verified || entry.EmailVerified || entry.IsConfirmed || entry.ConfirmedAt != "")
		primary := bool(entry.Primary || entry.IsPrimary)
		if i, dup := index[address]; dup {
			emails[i].Verified = emails[i].Verified && verified
			emails[i].Primary = emails[i].Primary || primary
			continue
		}
		if len(emails) == maxEmails {
			continue // another entry of an address that is returned can follow
		}
		index[address] = len(emails)
		emails = append(emails, Email{Address: address, Verified: verified, Primary: primary})
	}
	return emails
}

// isAddress reports whether address has a local part and a domain, and is safe to store. It checks nothing else.
func isAddress(address string) bool {
	local, domain, ok := strings.Cut(address, "@")
	return ok && local != "" && domain != "" && len(address) <= maxAddress &&
		!strings.ContainsFunc(address, unprintable)
}

// text is a JSON string. It is empty for any other JSON value.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	*t = ""
	if jsontext.Value(data).Kind() != '"' {
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// flag is true for the JSON value true, and for the string "true", which some OpenID providers send. It is false for
// any other JSON value.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(data []byte) error {
	*f = string(data) == "true" || string(data) == `"true"`
	return nil
}
