package runtime

import (
	"strings"
	"testing"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		want reference
		ok   bool
	}{
		{"f", reference{name: "f"}, true},
		{"f:$LATEST", reference{name: "f", qualifier: "$LATEST"}, true},
		{"f:live", reference{name: "f", qualifier: "live"}, true},
		{"123456789012:function:f:7", reference{account: "123456789012", name: "f", qualifier: "7"}, true},
		{"arn:aws:lambda:eu-west-1:123456789012:function:f", reference{region: "eu-west-1", account: "123456789012", name: "f"}, true},
		{"arn:aws-cn:lambda:cn-north-1:123456789012:function:f:b", reference{region: "cn-north-1", account: "123456789012", name: "f", qualifier: "b"}, true},
		{"", reference{}, false},
		{"a b", reference{}, false},
		{"arn:aws:s3:::bucket", reference{}, false},
		{strings.Repeat("x", 171), reference{}, false},
	}
	for _, c := range cases {
		if got, ok := parseReference(c.text); got != c.want || ok != c.ok {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}
