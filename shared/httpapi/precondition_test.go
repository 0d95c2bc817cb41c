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
	bare := strings.Trim(tag, `"`)
	for name, tc := range map[string]struct {
		ifMatch, ifNoneMatch string
		there, absent        bool // whether a change is allowed if the resource has the tag, and if it does not exist
	}{
		"no condition":                  {"", "", true, true},
		"match":                         {tag, "", true, false},
		"match another":                 {otherTag, "", false, false},
		"match any":                     {"*", "", true, false},
		"match any, with blanks":        {" *\t", "", true, false},
		"match a list":                  {otherTag + "," + tag, "", true, false},
		"match a list, roomy":           {" , " + otherTag + " ,, \t" + tag + " ,", "", true, false},
		"match a list without it":       {otherTag + `, "x"`, "", false, false},
		"match without quotes":          {bare, "", true, false},
		"match without quotes, listed":  {"x," + bare + " , y", "", true, false},
		"match weakly":                  {"W/" + tag, "", false, false},
		"match weakly, no quotes":       {"W/" + bare, "", false, false},
		"match a star in quotes":        {`"*"`, "", false, false},
		"match nothing's tag":           {`""`, "", false, false},
		"match another case":            {strings.ToLower(tag), "", false, false},
		"match with a comma inside":     {`"a,b", ` + tag, "", true, false},
		"match bytes beyond ASCII":      {"\"\xe9\", " + tag, "", true, false},
		"none":                          {"", tag, false, true},
		"none of another":               {"", otherTag, true, true},
		"none at all":                   {"", "*", false, true},
		"none of a list":                {"", otherTag + "," + tag, false, true},
		"none, weakly":                  {"", "W/" + tag, false, true},
		"none without quotes":           {"", bare, false, true},
		"match one and none of another": {tag, otherTag, true, false},
		"match one and none of it":      {tag, tag, false, false},
		"match any and none":            {"*", "*", false, false},
	} {
		p, err := httpapi.ParsePreconditions(tc.ifMatch, tc.ifNoneMatch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for current, want := range map[string]bool{tag: tc.there, "": tc.absent} {
			err := p.Check(current)
			if (err == nil) != want || err != nil && !errors.Is(err, fault.New(fault.CodePreconditionFailed, "")) {
				t.Errorf("%s, current %s: %v", name, current, err)
			}
		}
		if p.IsZero() != (tc.ifMatch+tc.ifNoneMatch == "") {
			t.Errorf("%s: zero %v", name, p.IsZero())
		}
	}
}

// RFC 9110 §8.8.3.2: two weak tags are never the same to If-Match, even if they are written alike.
func TestWeakEntityTags(t *testing.T) {
	t.Parallel()
	p, err := httpapi.ParsePreconditions("W/"+tag, "W/"+tag)
	if err != nil || p.Check("W/"+tag) == nil || !p.NotModified("W/"+tag) {
		t.Errorf("%v", err)
	}
	if p, err = httpapi.ParsePreconditions("W/"+tag, ""); err != nil || p.Check("W/"+tag) == nil {
		t.Errorf("matched, %v", err)
	}
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{"": false, "*": true, tag: true, "W/" + tag: true, otherTag: false, otherTag + ", " + tag: true} {
		p, err := httpapi.ParsePreconditions("", header)
		if err != nil || p.NotModified(tag) != want || p.NotModified("") {
			t.Errorf("%q: %v, %v", header, p.NotModified(tag), err)
		}
	}
	if p, err := httpapi.ParsePreconditions(tag, ""); err != nil || p.NotModified(tag) {
		t.Errorf("If-Match is for changes: %v", err)
	}
}

func TestInvalidPreconditions(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{
		" ", ",", " , ,", `"`, `"a`, `a"`, `"a"b`, `a"b"`, `"a""b"`, `"a" "b"`, `a b`, `"a b"`, "\"a\x7f\"", "\"a\tb\"", "W/", "W/,x", `w/"a"`, `W/ "a"`,
		`*, "a"`, `"a", *`, "**x\"", "W/*", "*,*",
	} {
		_, err := httpapi.ParsePreconditions(broken, "")
		var answer *fault.Error
		if !errors.As(err, &answer) || answer.Code != fault.CodeValidationFailed || answer.Message != "If-Match: must be * or a list of entity tags" {
			t.Errorf("If-Match: %s: %v", broken, err)
		}
		if _, err = httpapi.ParsePreconditions(tag, broken); !errors.As(err, &answer) || answer.Message != "If-None-Match: must be * or a list of entity tags" {
			t.Errorf("If-None-Match: %s: %v", broken, err)
		}
	}
	_, err := httpapi.ParsePreconditions(`"`, `"`)
	want := "If-Match: must be * or a list of entity tags; If-None-Match: must be * or a list of entity tags"
	if answer := (*fault.Error)(nil); !errors.As(err, &answer) || answer.Message != want {
		t.Error(err)
	}
}

// A list of arbitrary tags matches each of them and no other tag.
func TestEntityTagLists(t *testing.T) {
	t.Parallel()
	opaque := rapid.StringOfN(rapid.RuneFrom([]rune("ab,*/W!#~é")), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfN(opaque, 1, 4).Draw(t, "tags")
		current := opaque.Draw(t, "current")
		header := `"` + strings.Join(tags, rapid.SampledFrom([]string{`","`, `" , "`, "\",\t,\""}).Draw(t, "comma")) + `"`
		p, err := httpapi.ParsePreconditions(header, "")
		if err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		if matched := p.Check(`"`+current+`"`) == nil; matched != slices.Contains(tags, current) {
			t.Fatalf("%s, current %q: %v", header, current, matched)
		}
	})
}

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
			t.Errorf("%q: no conditions", header)
		}
	})
}

type taggedInput struct{ httpapi.ConditionInput }

type taggedOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The version"`
	Body   *struct {
		Text string `json:"text"`
	}
}

// registerTagged adds a resource that has an entity tag: read with 304, written with 201 or 200.
func registerTagged(r *httpapi.Routes) {
	text := func(s string) *struct {
		Text string `json:"text"`
	} {
		return &struct {
			Text string `json:"text"`
		}{s}
	}
	httpapi.Public(r, httpapi.Operation{ID: "read", Method: http.MethodGet, Path: "/api/thing", Also: []int{http.StatusNotModified}},
		func(_ context.Context, in *taggedInput) (*taggedOutput, error) {
			known, err := in.Preconditions()
			if err != nil {
				return nil, err
			}
			out := &taggedOutput{Status: http.StatusOK, ETag: tag}
			if known.NotModified(tag) {
				out.Status = http.StatusNotModified
				return out, nil
			}
			out.Body = text("x")
			return out, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "write", Method: http.MethodPost, Path: "/api/thing", Also: []int{http.StatusCreated}},
		func(_ context.Context, in *taggedInput) (*taggedOutput, error) {
			condition, err := in.Preconditions()
			if err != nil {
				return nil, err
			}
			if err := condition.Check(tag); err != nil {
				return nil, err
			}
			return &taggedOutput{Status: http.StatusCreated, ETag: tag, Body: text("x")}, nil
		})
}

func taggedRouter() http.Handler {
	return httpapi.NewRouter(httpapi.Config{Logger: edgetest.DiscardLog, Clock: edgetest.Clock}, registerTagged)
}

func TestNotModifiedResponse(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		a := edgetest.Request{Method: method, Target: "/api/thing", Header: map[string]string{"If-None-Match": "W/" + tag}}.Send(t, taggedRouter())
		if a.Status != http.StatusNotModified || a.Body != "" || a.Header.Get("ETag") != tag {
			t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
		}
		for _, name := range []string{"Content-Type", "Content-Length"} {
			if a.Header.Get(name) != "" {
				t.Errorf("%s: %s", name, a.Header.Get(name))
			}
		}
	}
	a := edgetest.Request{Method: http.MethodGet, Target: "/api/thing", Header: map[string]string{"If-None-Match": otherTag}}.Send(t, taggedRouter())
	if a.Status != http.StatusOK || a.Body != `{"text":"x"}` || a.Header.Get("ETag") != tag {
		t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
	}
}

func TestConditionsInSeveralHeaderLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header http.Header
		want   int
	}{
		"none":                   {http.Header{}, http.StatusCreated},
		"one line":               {http.Header{"If-Match": {tag}}, http.StatusCreated},
		"the second line":        {http.Header{"If-Match": {otherTag, tag}}, http.StatusCreated},
		"neither line":           {http.Header{"If-Match": {otherTag, `"x"`}}, http.StatusPreconditionFailed},
		"excluded by the second": {http.Header{"If-None-Match": {otherTag, tag}}, http.StatusPreconditionFailed},
		"empty":                  {http.Header{"If-Match": {""}}, http.StatusBadRequest},
		"empty, none":            {http.Header{"If-None-Match": {""}}, http.StatusBadRequest},
		"a star and a tag":       {http.Header{"If-Match": {"*", tag}}, http.StatusBadRequest},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/thing", http.NoBody)
		for k, v := range tc.header {
			r.Header[k] = v
		}
		w := httptest.NewRecorder()
		taggedRouter().ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	lambda := edgetest.Event(http.MethodPost, "/api/thing")
	lambda.MultiValueHeaders["If-Match"] = []string{otherTag, tag}
	if a, _ := edgetest.Invoke(t, taggedRouter(), lambda); a.Status != http.StatusCreated {
		t.Errorf("through Lambda: %d %s", a.Status, a.Body)
	}
}
