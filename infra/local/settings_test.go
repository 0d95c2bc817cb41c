package main

import (
	"strings"
	"testing"
)

// TestSettings names each variable that is wrong by the name that the user wrote.
func TestSettings(t *testing.T) { // not parallel: the environment
	for _, tc := range []struct {
		env  []string // names and values
		says string   // all of the error; "" for none
	}{
		{[]string{"PORT", "0", "AWS_PORT", "0"}, ""},
		{[]string{"PORT", "abc"}, "PORT=abc: must be a number"},
		{[]string{"PORT", "3e3", "AWS_PORT", "99999999999999999999", "LAMBDA_CONCURRENCY", "many"}, "PORT=3e3: must be a number\nAWS_PORT=99999999999999999999: must be a number\nLAMBDA_CONCURRENCY=many: must be a number"},
		{[]string{"PORT", "70000"}, "PORT=70000: must be 0 to 65092 (https is at PORT+443)"},
		{[]string{"AWS_ENDPOINT_URL", "localhost:8000"}, "AWS_ENDPOINT_URL=localhost:8000: must start with http:// or https://"},
		{[]string{"AWS_ENDPOINT_URL", "http://local host"}, "AWS_ENDPOINT_URL=http://local host: is no URL"},
		{[]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:8000"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "http://example.com:4566"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:4566", "AWS_PORT", "4567"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://127.9.9.9:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://localhost:4566/"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://LocalHost.:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://dynamodb.localhost:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://[::1]:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://0.0.0.0:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://localhost", "AWS_PORT", "80"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "https://localhost", "AWS_PORT", "443"}, itself},
	} {
		t.Run(strings.Join(tc.env, " "), func(t *testing.T) {
			t.Setenv("PORT", "3000")
			t.Setenv("AWS_PORT", "4566")
			t.Setenv("LAMBDA_CONCURRENCY", "10")
			t.Setenv("AWS_ENDPOINT_URL", "")
			for i := 0; i < len(tc.env); i += 2 {
				t.Setenv(tc.env[i], tc.env[i+1])
			}
			_, err := loadSettings()
			if said := message(err); said != tc.says {
				t.Errorf("%q, want %q", said, tc.says)
			}
		})
	}
}

const itself = "AWS_ENDPOINT_URL is this platform itself: unset it"

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
