package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/edgetest"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

const (
	tag      = `"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	otherTag = `"01K9ZQ3V7M8T5XW2ABCDEFGHJM"`
)

func TestPreconditions(t *testing.T) {
	t.Parallel()
	unquoted := strings.Trim(tag, `"`)
	for name, tc := range map[string]struct {
		ifMatch, ifNoneMatch string
		// Whether a change is allowed if the resource has the tag, and if the resource does not exist.
		ifTagged, ifAbsent bool
	}{
		"no condition":                     {ifTagged: true, ifAbsent: true},
		"If-Match":                         {ifMatch: tag, ifTagged: true},
		"If-Match, another tag":            {ifMatch: otherTag},
		"If-Match, any tag":                {ifMatch: "*", ifTagged: true},
		"If-Match, any tag between blanks": {ifMatch: " *\t", ifTagged: true},
		"If-Match, list":                   {ifMatch: otherTag + "," + tag, ifTagged: true},
		"If-Match, list with blanks and empty elements": {
			ifMatch:  " , " + otherTag + " ,, \t" + tag + " ,",
			ifTagged: true,
		},
		"If-Match, list of other tags":                 {ifMatch: otherTag + `, "x"`},
		"If-Match, unquoted tag":                       {ifMatch: unquoted, ifTagged: true},
		"If-Match, list of unquoted tags":              {ifMatch: "x," + unquoted + " , y", ifTagged: true},
		"If-Match, weak tag":                           {ifMatch: "W/" + tag},
		"If-Match, unquoted weak tag":                  {ifMatch: "W/" + unquoted},
		"If-Match, quoted star":                        {ifMatch: `"*"`},
		"If-Match, empty tag":                          {ifMatch: `""`},
		"If-Match, tag in another case":                {ifMatch: strings.ToLower(tag)},
		"If-Match, tag that contains a comma":          {ifMatch: `"a,b", ` + tag, ifTagged: true},
		"If-Match, tag with a byte beyond ASCII":       {ifMatch: "\"\xe9\", " + tag, ifTagged: true},
		"If-None-Match":                                {ifNoneMatch: tag, ifAbsent: true},
		"If-None-Match, another tag":                   {ifNoneMatch: otherTag, ifTagged: true, ifAbsent: true},
		"If-None-Match, any tag":                       {ifNoneMatch: "*", ifAbsent: true},
		"If-None-Match, list":                          {ifNoneMatch: otherTag + "," + tag, ifAbsent: true},
		"If-None-Match, weak tag":                      {ifNoneMatch: "W/" + tag, ifAbsent: true},
		"If-None-Match, unquoted tag":                  {ifNoneMatch: unquoted, ifAbsent: true},
		"both headers, If-None-Match with another tag": {ifMatch: tag, ifNoneMatch: otherTag, ifTagged: true},
		"both headers, same tag":                       {ifMatch: tag, ifNoneMatch: tag},
		"both headers, any tag":                        {ifMatch: "*", ifNoneMatch: "*"},
	} {
		p, err := httpapi.ParsePreconditions(tc.ifMatch, tc.ifNoneMatch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for current, want := range map[string]bool{tag: tc.ifTagged, "": tc.ifAbsent} {
			err := p.Check(current)
			if (err == nil) != want || err != nil && !errors.Is(err, fault.New(fault.CodePreconditionFailed, "")) {
				t.Errorf("%s, current tag %q: got %v, want allowed %v", name, current, err, want)
			}
		}
		// The response to a GET is a 304 exactly if If-None-Match makes a change fail.
		isKnown := tc.ifNoneMatch != "" && tc.ifNoneMatch != otherTag
		if p.NotModified(tag) != isKnown || p.NotModified("") {
			t.Errorf("%s: NotModified returned %v, and %v without a tag", name, p.NotModified(tag), p.NotModified(""))
		}
		if p.IsZero() != (tc.ifMatch+tc.ifNoneMatch == "") {
			t.Errorf("%s: IsZero returned %v", name, p.IsZero())
		}
	}
}

// Weak tags never match If-Match, even if they are identical (RFC 9110 §8.8.3.2).
func TestWeakEntityTags(t *testing.T) {
	t.Parallel()
	for headers, wants := range map[[2]string]struct{ fails, notModified bool }{
		{"W/" + tag, ""}:         {true, false},
		{"", "W/" + tag}:         {true, true},
		{"W/" + tag, "W/" + tag}: {true, true},
	} {
		p, err := httpapi.ParsePreconditions(headers[0], headers[1])
		if err != nil || (p.Check("W/"+tag) != nil) != wants.fails || p.NotModified("W/"+tag) != wants.notModified {
			t.Errorf("%q: got error %v, check %v, not modified %v", headers, err, p.Check("W/"+tag), p.NotModified("W/"+tag))
		}
	}
}

func TestInvalidPreconditions(t *testing.T) {
	t.Parallel()
	const (
		ifMatchError     = "If-Match: must be * or a comma-separated list of entity tags"
		ifNoneMatchError = "If-None-Match: must be * or a comma-separated list of entity tags"
	)
	for _, invalid := range []string{
		" ", ",", " , ,", `"`, `"a`, `a"`, `"a"b`, `a"b"`, `"a""b"`, `"a" "b"`, `a b`, `"a b"`, "\"a\x7f\"",
		"\"a\tb\"", "W/", "W/,x", `w/"a"`, `W/ "a"`,
		`*, "a"`, `"a", *`, "**x\"", "W/*", "*,*",
	} {
		_, err := httpapi.ParsePreconditions(invalid, "")
		var got *fault.Error
		if !errors.As(err, &got) || got.Code != fault.CodeValidationFailed || got.Message != ifMatchError {
			t.Errorf("If-Match: %s: got %v, want %s", invalid, err, ifMatchError)
		}
		if _, err = httpapi.ParsePreconditions(tag, invalid); !errors.As(err, &got) || got.Message != ifNoneMatchError {
			t.Errorf("If-None-Match: %s: got %v, want %s", invalid, err, ifNoneMatchError)
		}
	}
	_, err := httpapi.ParsePreconditions(`"`, `"`)
	var got *fault.Error
	if want := ifMatchError + "; " + ifNoneMatchError; !errors.As(err, &got) || got.Message != want {
		t.Errorf("both headers invalid: got %v, want %s", err, want)
	}
}

// TestEntityTagLists checks that a list of arbitrary tags matches each of them and no other tag.
func TestEntityTagLists(t *testing.T) {
	t.Parallel()
	opaque := rapid.StringOfN(rapid.RuneFrom([]rune("ab,*/W!#~é")), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfN(opaque, 1, 4).Draw(t, "tags")
		current := opaque.Draw(t, "current")
		separator := rapid.SampledFrom([]string{`","`, `" , "`, "\",\t,\""}).Draw(t, "separator")
		header := `"` + strings.Join(tags, separator) + `"`
		p, err := httpapi.ParsePreconditions(header, "")
		if err != nil {
			t.Fatalf("%s: got the error %v, want a valid list", header, err)
		}
		if matched := p.Check(`"`+current+`"`) == nil; matched != slices.Contains(tags, current) {
			t.Fatalf("%s, current tag %q: got match %v, want %v", header, current, matched, !matched)
		}
	})
}

// FuzzPreconditions checks that a valid If-Match header has a condition that fails if the resource does not exist, and
// that an invalid one has no condition.
func FuzzPreconditions(f *testing.F) {
	for _, seed := range []string{tag, "*", `W/"a", b,,"c`, `"a"b`, ", ,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		p, err := httpapi.ParsePreconditions(header, "")
		if err != nil && !p.IsZero() {
			t.Errorf("%q: conditions were returned with the error %v", header, err)
		}
		if err == nil && header != "" && (p.IsZero() || p.Check("") == nil) {
			t.Errorf("%q: a valid If-Match header allows a change of a resource that does not exist", header)
		}
	})
}

type taggedInput struct{ httpapi.ConditionInput }

type taggedOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The version"`
	Body   *taggedBody
}

type taggedBody struct {
	Text string `json:"text"`
}

// registerTagged adds the endpoints of a resource whose entity tag is tag: GET returns 200 or 304, and POST returns
// 201.
func registerTagged(r *httpapi.Routes) {
	read := httpapi.Operation{
		ID: "read", Method: http.MethodGet, Path: "/api/resource", OtherStatuses: []int{http.StatusNotModified},
	}
	httpapi.Public(r, read, func(_ context.Context, in *taggedInput) (*taggedOutput, error) {
		conditions, err := in.Preconditions()
		if err != nil {
			return nil, err
		}
		if conditions.NotModified(tag) {
			return &taggedOutput{Status: http.StatusNotModified, ETag: tag}, nil
		}
		return &taggedOutput{Status: http.StatusOK, ETag: tag, Body: &taggedBody{"x"}}, nil
	})
	write := httpapi.Operation{
		ID: "write", Method: http.MethodPost, Path: "/api/resource", OtherStatuses: []int{http.StatusCreated},
	}
	httpapi.Public(r, write, func(_ context.Context, in *taggedInput) (*taggedOutput, error) {
		conditions, err := in.Preconditions()
		if err != nil {
			return nil, err
		}
		if err := conditions.Check(tag); err != nil {
			return nil, err
		}
		return &taggedOutput{Status: http.StatusCreated, ETag: tag, Body: &taggedBody{"x"}}, nil
	})
}

func taggedRouter() http.Handler {
	return newRouter(registerTagged)
}

func TestNotModifiedResponse(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		response := edgetest.Request{
			Method: method, Target: "/api/resource", Header: map[string]string{"If-None-Match": "W/" + tag},
		}.Send(t, taggedRouter())
		if response.Status != http.StatusNotModified || response.Body != "" || response.Header.Get("ETag") != tag {
			t.Errorf("%s, known tag: got %d %s with ETag %s, want 304 without a body and with ETag %s",
				method, response.Status, response.Body, response.Header.Get("ETag"), tag)
		}
		for _, name := range []string{"Content-Type", "Content-Length"} {
			if got := response.Header.Get(name); got != "" {
				t.Errorf("%s, known tag: got %s: %s, want no such header", method, name, got)
			}
		}
	}
	response := edgetest.Request{
		Method: http.MethodGet, Target: "/api/resource", Header: map[string]string{"If-None-Match": otherTag},
	}.Send(t, taggedRouter())
	if response.Status != http.StatusOK || response.Body != `{"text":"x"}` || response.Header.Get("ETag") != tag {
		t.Errorf("GET, another tag: got %d %s with ETag %s, want 200 with the body and ETag %s",
			response.Status, response.Body, response.Header.Get("ETag"), tag)
	}
}

func TestConditionsInSeveralHeaderLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header http.Header
		want   int
	}{
		"no header":           {header: http.Header{}, want: http.StatusCreated},
		"one line":            {header: http.Header{"If-Match": {tag}}, want: http.StatusCreated},
		"second line matches": {header: http.Header{"If-Match": {otherTag, tag}}, want: http.StatusCreated},
		"no line matches":     {header: http.Header{"If-Match": {otherTag, `"x"`}}, want: http.StatusPreconditionFailed},
		"second line of If-None-Match matches": {
			header: http.Header{"If-None-Match": {otherTag, tag}},
			want:   http.StatusPreconditionFailed,
		},
		"empty If-Match":      {header: http.Header{"If-Match": {""}}, want: http.StatusBadRequest},
		"empty If-None-Match": {header: http.Header{"If-None-Match": {""}}, want: http.StatusBadRequest},
		"star and tag":        {header: http.Header{"If-Match": {"*", tag}}, want: http.StatusBadRequest},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/resource", http.NoBody)
		for k, v := range tc.header {
			r.Header[k] = v
		}
		w := httptest.NewRecorder()
		taggedRouter().ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%s: got %d %s, want %d", name, w.Code, w.Body, tc.want)
		}
	}
	lambda := edgetest.Event(http.MethodPost, "/api/resource")
	lambda.MultiValueHeaders["If-Match"] = []string{otherTag, tag}
	if response, _ := edgetest.Invoke(t, taggedRouter(), lambda); response.Status != http.StatusCreated {
		t.Errorf("If-Match in two lines of an event: got %d %s, want 201", response.Status, response.Body)
	}
}
