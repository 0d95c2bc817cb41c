package setting_test

import (
	"crypto/rand"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"devplatform/shared/clock"
	"devplatform/shared/id"
	"devplatform/shared/project/setting"
	"devplatform/shared/webhook/signature"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"VITE_API_URL": true, "REACT_APP_A": true, "VITE_": true, "REACT_APP_": true, "VITE_1": true, "VITE__": true,
		"": false, "VITE": false, "API_KEY": false, "_VITE_A": false, "vite_a": false, "VITE_a": false, "VITE_A ": false,
		"VITE_A\n": false, "\nVITE_A": false, "VITE_A-B": false, "VITE_É": false, "REACT_A": false, "XVITE_A": false,
		"VITE_A\x00": false, "VITE_\xff": false,
	} {
		if rule := setting.CheckName(name); (rule == "") != valid {
			t.Errorf("%q: got the rule %q, want valid: %t", name, rule, valid)
		}
	}
}

// sign returns a JWT with these claims.
func sign(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("some key"))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Values contain no credentials of this service, in any place. Public tokens of other services are allowed.
func TestCredentialsInValues(t *testing.T) {
	t.Parallel()
	ids := id.NewGenerator(clock.System, rand.Reader)
	session := sign(t, jwt.MapClaims{"iss": "devplatform", "sub": ids.New(id.User), "sid": ids.New(id.Session)})
	token := "dvp_" + strings.TrimPrefix(ids.New(id.User), "usr_") + strings.Repeat("a1B", 12) + "zz"
	for _, credential := range []string{session, token, signature.NewSecret()} {
		for _, value := range []string{
			credential, "Bearer " + credential, "https://example.com/?token=" + credential, "1.2." + credential + ".3",
			"é" + credential, "\n" + credential + "\n", strings.Repeat("x", 20_000) + credential, credential + "\x00",
		} {
			if setting.CheckValue(value) == "" {
				t.Errorf("%.100q is allowed", value)
			}
		}
	}
	for _, value := range []string{
		"", " ", "\n", "https://api.example.com/v1", "dvp_dev", "whsec_test", "1.2.3", "...", strings.Repeat(".", 32<<10),
		strings.Repeat("eyJ.", 8<<10), strings.Repeat("A", 32<<10), "\x00", "\xff",
		sign(t, jwt.MapClaims{"iss": "supabase", "ref": strings.Repeat("abcd", 5), "role": "anon", "exp": 2_000_000_000}),
		sign(t, jwt.MapClaims{"iss": "other", "sid": "ses_1234", "text": strings.Repeat("x", 60)}),
		sign(t, jwt.MapClaims{"sid": []string{ids.New(id.Session)}}),
		"." + strings.Repeat("A", 80) + ".",
	} {
		if rule := setting.CheckValue(value); rule != "" {
			t.Errorf("%.80q: got the rule %q, want none", value, rule)
		}
	}
}

// Of two variables with a name, the one with the deployment's target is used, whatever their order.
func TestValuesOfTarget(t *testing.T) {
	t.Parallel()
	list := []setting.Variable{
		{Name: "VITE_A", Value: "all", Target: setting.All},
		{Name: "VITE_A", Value: "preview", Target: "preview"},
		{Name: "VITE_B", Value: "", Target: "production"},
		{Name: "VITE_B", Value: "all", Target: setting.All},
		{Name: "VITE_C", Value: "preview", Target: "preview"},
	}
	for target, want := range map[setting.Target]map[string]string{
		"production": {"VITE_A": "all", "VITE_B": ""},
		"preview":    {"VITE_A": "preview", "VITE_B": "all", "VITE_C": "preview"},
	} {
		if got := setting.Values(list, target); !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
}

// FuzzCheckValue checks that no text makes the check fail, and that a text that contains a credential is refused.
func FuzzCheckValue(f *testing.F) {
	ids := id.NewGenerator(func() time.Time { return time.Unix(0, 0) }, rand.Reader)
	session, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": "devplatform", "sub": ids.New(id.User), "sid": ids.New(id.Session),
	}).SignedString([]byte("some key"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("https://example.com/?a=", "&b=1.2.3")
	f.Add("", ".")
	f.Fuzz(func(t *testing.T, before, after string) {
		_ = setting.CheckValue(before + after)
		if setting.CheckValue(before+" "+session+" "+after) == "" {
			t.Errorf("a session between %q and %q is allowed", before, after)
		}
	})
}
