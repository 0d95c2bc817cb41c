package config

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// FuzzRing checks that every accepted ring has a current key and no weak keys, and that no error contains a key.
func FuzzRing(f *testing.F) {
	const key = "0123456789abcdefghijABCDEFGHIJ0123456789"
	for _, seed := range []string{
		`{"current":"k1","k1":"` + key + `"}`,
		`{"current":"k2","k1":"` + key + `","k2":"` + key + `x"}`,
		`{"current":"current"}`,
		`{"k1":"` + key + `"}`,
		`{"current":"","":"` + key + `"}`,
		`{"current":"k1","k1":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`,
		`{"current":1}`,
		`{"current":"k2","k1":"` + key + `","k2":"` + key + `x","decryptOnly":["k1"]}`,
		`{"current":"k1","k1":"` + key + `","decryptOnly":["k1"]}`,
		`{"current":"k1","k1":"` + key + `","decryptOnly":"k1"}`,
		`{"current":"k1","current":"k1","k1":"` + key + `"}`,
		`[]`,
		`null`,
		``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRing(text)
		if err != nil {
			var fields map[string]any
			_ = json.Unmarshal([]byte(text), &fields)
			for name, value := range fields {
				// An error may contain the names of keys, and a very short secret by coincidence.
				secret, _ := value.(string)
				isSecret := name != "current" && len(secret) >= minDistinct && !strings.Contains(name, secret)
				if isSecret && strings.Contains(err.Error(), secret) {
					t.Fatalf("the error contains the key %q: %v", secret, err)
				}
			}
			return
		}
		current := r.keys[r.current]
		if len(current.secret) < minKeyLength || current.decryptOnly {
			t.Fatalf("the ring %q was accepted with the current key %+v", text, current)
		}
		fields, decryptOnly := map[string]any{"current": r.current}, []string{}
		for kid, key := range r.keys {
			if !validKid(kid) || len(key.secret) < minKeyLength || distinct(string(key.secret)) < minDistinct {
				t.Fatalf("the invalid key ID %q or the weak key %q was accepted", kid, key.secret)
			}
			if key.decryptOnly {
				decryptOnly = append(decryptOnly, kid)
			}
			fields[kid] = string(key.secret)
		}
		fields["decryptOnly"] = decryptOnly
		encoded, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if decoded, err := parseRing(string(encoded)); err != nil || !reflect.DeepEqual(decoded, r) {
			t.Fatalf("got %+v, %v for the encoded ring %s, want %+v", decoded, err, encoded, r)
		}
	})
}

// FuzzCredentials checks that no error contains a part of the secret.
func FuzzCredentials(f *testing.F) {
	for _, seed := range []string{
		`{"oauthClientSecret":"a","openaiApiKey":"b"}`,
		`{}`,
		`{"openaiApiKey":null,"other":[1]}`,
		`{"openaiApiKey":1}`,
		`"x"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields, err := parseCredentials(text)
		if err != nil {
			if err.Error() != "the secret of a provider is not a JSON object of strings" {
				t.Fatalf("got the unexpected error %v", err)
			}
			return
		}
		for _, value := range fields {
			if !utf8.ValidString(value) {
				t.Fatalf("got the value %q, which is not valid UTF-8", value)
			}
		}
	})
}

// FuzzSecretResponse checks that no error contains the secret.
func FuzzSecretResponse(f *testing.F) {
	f.Add(200, []byte(`{"ARN":"arn:aws:secretsmanager:us-east-1:000000000000:secret:x","SecretString":"the-secret-itself"}`))
	f.Add(400, []byte(`{"__type":"ResourceNotFoundException","SecretString":"the-secret-itself"}`))
	f.Add(200, []byte(`{"SecretBinary":"AA=="}`))
	f.Add(200, []byte(`{"SecretString":"the-secret-itself"`))
	f.Fuzz(func(t *testing.T, status int, data []byte) {
		text, err := parseSecret(status, data)
		switch {
		case err == nil && (status != http.StatusOK || !utf8.ValidString(text)):
			t.Fatalf("status %d, body %q: accepted as the secret %q", status, data, text)
		case err != nil && text != "":
			t.Fatalf("status %d, body %q: got secret %q and error %v, want one of them", status, data, text, err)
		case err != nil && strings.Contains(err.Error(), "the-secret-itself") && !strings.Contains(string(data), `"__type"`):
			t.Fatalf("status %d, body %q: the error contains the secret: %v", status, data, err)
		}
	})
}

// FuzzOrigin checks that every accepted origin has the form in which browsers send it.
func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{
		"https://app.example.com", "http://localhost:3000", "https://[::1]:8080", "https://a_b", "null",
		"https://app.example.com/", "https://*.example.com", "https://app.example.com:443", "https://app.example.com:",
		"HTTPS://app.example.com", "https://user@app.example.com", "http://[::1%25eth0]", "https://é.example",
		"https://a?b", "https://a,b", "https://a%zz", "https://a%41", "https://a;b", "https://a<",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var o Origin
		if o.UnmarshalText([]byte(text)) != nil {
			if o != "" {
				t.Fatalf("%q was rejected but changed the origin to %q", text, o)
			}
			return
		}
		u, err := url.Parse(string(o))
		if err != nil || string(o) != text || u.Scheme+"://"+u.Host != text || strings.ContainsAny(u.Host, `*@/?#\`) {
			t.Fatalf("%q was accepted as the origin %q", text, o)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q was accepted, but browsers do not send this origin", text)
		}
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(text); err != nil {
			t.Fatalf("%q was accepted, but net/http rejects this origin: %v", text, err)
		}
	})
}
