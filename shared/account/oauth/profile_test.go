package oauth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func TestSubjectOfCustomProviders(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // subject by user resource
		`{"sub":"s","id":5,"uuid":"u"}`:                     "s",
		`{"id":5,"uuid":"u"}`:                               "5",
		`{"id":"5"}`:                                        "5",
		`{"uuid":"{u}"}`:                                    "{u}",
		`{"id":123456789012345678901234567890}`:             "123456789012345678901234567890",
		`{"sub":null,"id":7}`:                               "7",
		`{"sub":{"x":1},"id":7}`:                            "7",
		`{"ID":7}`:                                          "",
		`{"login":"octocat","email":"o@x.example"}`:         "",
		`{"sub":"` + strings.Repeat("a", maxSubject) + `"}`: strings.Repeat("a", maxSubject),
	}
	for body, want := range cases {
		var p profile
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got := p.identity(presets[kindCustom]).Subject; got != want {
			t.Errorf("%s: got the subject %q, want %q", body, got, want)
		}
	}
}

func TestFieldsOfAnotherTypeAreIgnored(t *testing.T) {
	t.Parallel()
	var p profile
	const body = `{"id":1,"login":5,"username":"u","name":{"first":"x"},
		"email":["a@x.example"],"email_verified":1,"confirmed_at":false}`
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Identity{Subject: "1", Login: "u"}, p.identity(presets["github"])); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

// The field "verified" is not part of OpenID Connect. It does not verify the address of a user resource.
func TestOnlyTrueVerifiesAnAddress(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		`true`:    true,
		`"true"`:  true,
		`false`:   false,
		`"false"`: false,
		`"TRUE"`:  false,
		`"yes"`:   false,
		`1`:       false,
		`null`:    false,
		`{}`:      false,
	} {
		body := fmt.Appendf(nil, `{"id":1,"email":"a@x.example","verified":true,"email_verified":%s}`, value)
		var p profile
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatal(err)
		}
		if got := p.identity(presets[kindCustom]).Emails[0].Verified; got != want {
			t.Errorf("email_verified %s: got verified = %v, want %v", value, got, want)
		}
	}
}

func TestEmailLists(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		body string
		want []Email
	}{
		"GitLab": {
			`[{"id":1,"email":"a@x.example","confirmed_at":"2021-03-26T19:07:56.248Z"},
			  {"id":2,"email":"b@x.example","confirmed_at":null}]`,
			[]Email{{Address: "a@x.example", Verified: true}, {Address: "b@x.example"}},
		},
		"malformed addresses": {
			`[{"email":"","verified":true},{"email":"text","verified":true},{"email":null},
			  {"email":"a\nb@x.example"},{"email":"@x"},{"email":"x@"}]`,
			nil,
		},
		"duplicate address, once unverified": {
			`[{"email":"a@x.example","verified":true},{"email":"a@x.example","primary":true}]`,
			[]Email{{Address: "a@x.example", Verified: false, Primary: true}},
		},
		"address too long": {
			`[{"email":"` + strings.Repeat("a", maxAddress) + `@x.example"}]`,
			nil,
		},
		"empty page": {
			`{"values":[]}`,
			nil,
		},
		"spaces around the address": {
			`[{"email":" a@x.example "}]`,
			[]Email{{Address: "a@x.example"}},
		},
		"unknown fields": {
			`[{"email":"a@x.example","verified":true,"visibility":null,"x":{}}]`,
			[]Email{{Address: "a@x.example", Verified: true}},
		},
	}
	for name, c := range cases {
		var l emailList
		if err := json.Unmarshal([]byte(c.body), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, l.emails()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNumberOfEmailsIsBounded(t *testing.T) {
	t.Parallel()
	var entries []string
	for i := range maxEmails + 20 {
		entries = append(entries, fmt.Sprintf(`{"email":"u%d@x.example","verified":true}`, i))
	}
	entries = append(entries, `{"email":"u0@x.example"}`) // not verified
	var l emailList
	if err := json.Unmarshal([]byte("["+strings.Join(entries, ",")+"]"), &l); err != nil {
		t.Fatal(err)
	}
	emails := l.emails()
	if n := len(emails); n != maxEmails {
		t.Errorf("got %d addresses, want %d", n, maxEmails)
	}
	if emails[0].Verified || !emails[1].Verified {
		t.Errorf("got %v, want that only the second one is verified", emails[:2])
	}
}

func TestVerifiedEmailsPrimaryFirst(t *testing.T) {
	t.Parallel()
	identity := Identity{Emails: []Email{
		{Address: "a@x", Verified: true},
		{Address: "b@x", Primary: true},
		{Address: "c@x", Verified: true, Primary: true},
		{Address: "d@x", Verified: true},
	}}
	if diff := cmp.Diff([]string{"c@x", "a@x", "d@x"}, identity.VerifiedEmails()); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// FuzzProfile checks that the identity of an arbitrary user resource is safe to store.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"login":"a","email":"a@x.example"}`, `{"sub":"\u0000"}`, `{"id":1e9}`, `[]`,
		`{"uuid":"é","email":"\ud800@x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p profile
		if json.Unmarshal(body, &p) != nil {
			return
		}
		identity := p.identity(presets[kindCustom])
		if len(identity.Subject) > maxSubject || strings.ContainsFunc(identity.Subject, unprintable) {
			t.Errorf("got the subject %q, want a printable one of at most %d bytes", identity.Subject, maxSubject)
		}
		for _, e := range identity.Emails {
			if !isAddress(e.Address) {
				t.Errorf("got the malformed address %q", e.Address)
			}
		}
	})
}
