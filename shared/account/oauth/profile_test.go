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
	cases := map[string]string{
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
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestFieldsOfAnotherTypeAreAbsent(t *testing.T) {
	t.Parallel()
	var p profile
	const body = `{"id":1,"login":5,"username":"u","name":{"first":"x"},"email":["a@x.example"],"email_verified":1,"confirmed_at":false}`
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Identity{Subject: "1", Login: "u"}, p.identity(presets["github"])); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTrueVerifies(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		`true`: true, `"true"`: true, `false`: false, `"false"`: false, `1`: false, `"yes"`: false, `null`: false, `{}`: false, `"TRUE"`: false,
	} {
		var p profile
		if err := json.Unmarshal(fmt.Appendf(nil, `{"id":1,"email":"a@x.example","verified":true,"email_verified":%s}`, value), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.identity(presets[kindCustom]).Emails[0].Verified; got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}

func TestEmailLists(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range maxEmails + 20 {
		many = append(many, fmt.Sprintf(`{"email":"u%d@x.example"}`, i))
	}
	cases := map[string]struct {
		body string
		want []Email
	}{
		"GitLab's":        {`[{"id":1,"email":"a@x.example","confirmed_at":"2021-03-26T19:07:56.248Z"},{"id":2,"email":"b@x.example","confirmed_at":null}]`, []Email{{"a@x.example", true, false}, {"b@x.example", false, false}}},
		"implausible":     {`[{"email":"","verified":true},{"email":"nobody","verified":true},{"email":null},{"email":"a\nb@x.example"},{"email":"@x"},{"email":"x@"}]`, nil},
		"twice":           {`[{"email":"a@x.example","verified":true},{"email":"a@x.example","primary":true}]`, []Email{{"a@x.example", false, true}}},
		"too long":        {`[{"email":"` + strings.Repeat("a", maxAddress) + `@x.example"}]`, nil},
		"an empty page":   {`{"values":[]}`, nil},
		"spaces around":   {`[{"email":" a@x.example "}]`, []Email{{"a@x.example", false, false}}},
		"unknown members": {`[{"email":"a@x.example","verified":true,"visibility":null,"x":{}}]`, []Email{{"a@x.example", true, false}}},
	}
	for name, c := range cases {
		var l emailList
		if err := json.Unmarshal([]byte(c.body), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, l.emails()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var l emailList
	if err := json.Unmarshal([]byte("["+strings.Join(many, ",")+"]"), &l); err != nil || len(l.emails()) != maxEmails {
		t.Errorf("%d addresses, %v", len(l.emails()), err)
	}
}

func TestVerifiedEmailsPrimaryFirst(t *testing.T) {
	t.Parallel()
	who := Identity{Emails: []Email{{"a@x", true, false}, {"b@x", false, true}, {"c@x", true, true}, {"d@x", true, false}}}
	if diff := cmp.Diff([]string{"c@x", "a@x", "d@x"}, who.VerifiedEmails()); diff != "" {
		t.Error(diff)
	}
}

// FuzzProfile checks that every identity is safe to store, whatever the provider sends.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{`{"id":1,"login":"a","email":"a@x.example"}`, `{"sub":"\u0000"}`, `{"id":1e9}`, `[]`, `{"uuid":"é","email":"\ud800@x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p profile
		if json.Unmarshal(body, &p) != nil {
			return
		}
		who := p.identity(presets[kindCustom])
		if len(who.Subject) > maxSubject || strings.ContainsFunc(who.Subject, unprintable) {
			t.Errorf("subject %q", who.Subject)
		}
		for _, e := range who.Emails {
			if !isAddress(e.Address) {
				t.Errorf("address %q", e.Address)
			}
		}
	})
}
