package secrets

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/resources"

	"github.com/google/uuid"
)

// Limits of AWS.
const (
	maxValueBytes   = 65536
	maxVersions     = 100 // older versions are deleted
	minTokenLength  = 32
	maxTokenLength  = 64
	maxRequestBytes = 1 << 20 // leaves room for a value with escapes
)

const (
	stageCurrent  = "AWSCURRENT"
	stagePrevious = "AWSPREVIOUS"
)

const targetPrefix = "secretsmanager."

func (s *Store) service() *awsjson.Service {
	return &awsjson.Service{
		Name: "secrets", ContentType: awsjson.Version11, MaxRequestBytes: maxRequestBytes,
		Logger: s.options.Logger, RejectUnknown: true,
		Targets: map[string]awsjson.Operations{targetPrefix: {
			"CreateSecret":   awsjson.Handle(s.createSecret),
			"DescribeSecret": awsjson.Handle(s.describeSecret),
			"GetSecretValue": awsjson.Handle(s.getSecretValue),
			"PutSecretValue": awsjson.Handle(s.putSecretValue),
		}},
	}
}

func invalidParameter(format string, args ...any) error {
	return &awsjson.Error{Type: "InvalidParameterException", Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &awsjson.Error{Type: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...)}
}

func exists(format string, args ...any) error {
	return &awsjson.Error{Type: "ResourceExistsException", Message: fmt.Sprintf(format, args...)}
}

func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

type writtenOutput struct {
	ARN           string   `json:"ARN"`
	Name          string   `json:"Name"`
	VersionID     string   `json:"VersionId,omitzero"`
	VersionStages []string `json:"VersionStages,omitzero"`
}

// newValue is the value in a request. The token identifies the request when it is repeated, and is the version's ID.
type newValue struct {
	ClientRequestToken string  `json:"ClientRequestToken"`
	SecretString       *string `json:"SecretString"`
}

func (in *newValue) check() error {
	if n := len(in.ClientRequestToken); n > 0 && (n < minTokenLength || n > maxTokenLength) {
		return invalidParameter("ClientRequestToken must be %d-%d characters long.", minTokenLength, maxTokenLength)
	}
	if in.SecretString != nil && len(*in.SecretString) > maxValueBytes {
		return invalidParameter("The value must have at most %d bytes.", maxValueBytes)
	}
	return nil
}

type createSecretInput struct {
	newValue

	Name        string `json:"Name"`
	Description string `json:"Description"`
}

var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]{1,512}$`)

func (s *Store) createSecret(_ context.Context, in *createSecretInput) (*writtenOutput, error) {
	if !secretName.MatchString(in.Name) {
		return nil, invalidParameter("Name must have 1 to 512 letters, digits, and characters of /_+=.@-.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	var out *writtenOutput
	err := s.change(func(all *[]secret) error {
		if i := slices.IndexFunc(*all, func(sec secret) bool { return sec.Name == in.Name }); i >= 0 {
			taken := &(*all)[i]
			known := taken.find(in.ClientRequestToken, "")
			if known == nil || in.SecretString == nil || known.Value != *in.SecretString {
				return exists("The secret %s already exists.", in.Name)
			}
			out = &writtenOutput{ARN: taken.ARN, Name: taken.Name, VersionID: in.ClientRequestToken}
			return nil
		}
		created := secret{
			Name: in.Name, ARN: resources.SecretARN(s.options.Region, s.options.Account, in.Name), Description: in.Description,
			Created: s.now(), Changed: s.now(),
		}
		out = &writtenOutput{ARN: created.ARN, Name: created.Name}
		if in.SecretString != nil {
			out.VersionID = created.put(in.newValue, s.now()).ID
		}
		*all = append(*all, created)
		return nil
	})
	return out, err
}

type putSecretValueInput struct {
	newValue

	SecretID string `json:"SecretId"`
}

func (s *Store) putSecretValue(_ context.Context, in *putSecretValueInput) (*writtenOutput, error) {
	if in.SecretString == nil {
		return nil, invalidParameter("You must provide a value for the SecretString parameter.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	var out *writtenOutput
	err := s.change(func(all *[]secret) error {
		found, err := s.find(*all, in.SecretID)
		if err != nil {
			return err
		}
		put := found.find(in.ClientRequestToken, "")
		switch {
		case put == nil:
			put = found.put(in.newValue, s.now())
		case put.Value != *in.SecretString:
			return exists("ClientRequestToken %s is already in use for another value of %s.", in.ClientRequestToken, found.Name)
		}
		out = &writtenOutput{ARN: found.ARN, Name: found.Name, VersionID: put.ID, VersionStages: put.Stages}
		return nil
	})
	return out, err
}

// find returns the version with an ID or, if the ID is empty, with a stage. It returns nil if there is none.
func (sec *secret) find(id, stage string) *version {
	for i := range sec.Versions {
		v := &sec.Versions[i]
		if id != "" && v.ID == id || id == "" && slices.Contains(v.Stages, stage) {
			return v
		}
	}
	return nil
}

// put adds the current version. The version that was current becomes the previous one.
func (sec *secret) put(in newValue, now time.Time) *version {
	if in.ClientRequestToken == "" {
		in.ClientRequestToken = uuid.NewString()
	}
	for i := range sec.Versions {
		v := &sec.Versions[i]
		wasCurrent := slices.Contains(v.Stages, stageCurrent)
		v.Stages = nil
		if wasCurrent {
			v.Stages = []string{stagePrevious}
		}
	}
	sec.Versions = append(sec.Versions, version{
		ID: in.ClientRequestToken, Stages: []string{stageCurrent}, Created: now, Value: *in.SecretString,
	})
	sec.Versions = sec.Versions[max(0, len(sec.Versions)-maxVersions):]
	sec.Changed = now
	return &sec.Versions[len(sec.Versions)-1]
}

type getSecretValueInput struct {
	SecretID     string `json:"SecretId"`
	VersionID    string `json:"VersionId"`
	VersionStage string `json:"VersionStage"`
}

type secretValueOutput struct {
	ARN           string   `json:"ARN"`
	Name          string   `json:"Name"`
	CreatedDate   float64  `json:"CreatedDate"`
	SecretString  string   `json:"SecretString"`
	VersionID     string   `json:"VersionId"`
	VersionStages []string `json:"VersionStages"`
}

func (s *Store) getSecretValue(_ context.Context, in *getSecretValueInput) (*secretValueOutput, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found, err := s.find(s.secrets, in.SecretID)
	if err != nil {
		return nil, err
	}
	stage := in.VersionStage
	if stage == "" && in.VersionID == "" {
		stage = stageCurrent
	}
	v := found.find(in.VersionID, stage)
	if v == nil || stage != "" && !slices.Contains(v.Stages, stage) {
		return nil, notFound("Secrets Manager can't find the specified secret value: %s%s.", in.VersionID, stage)
	}
	return &secretValueOutput{
		ARN: found.ARN, Name: found.Name, CreatedDate: epoch(v.Created), SecretString: v.Value,
		VersionID: v.ID, VersionStages: v.Stages,
	}, nil
}

type describeSecretInput struct {
	SecretID string `json:"SecretId"`
}

type describeSecretOutput struct {
	ARN                string              `json:"ARN"`
	Name               string              `json:"Name"`
	Description        string              `json:"Description,omitzero"`
	CreatedDate        float64             `json:"CreatedDate"`
	LastChangedDate    float64             `json:"LastChangedDate"`
	VersionIDsToStages map[string][]string `json:"VersionIdsToStages,omitzero"`
}

func (s *Store) describeSecret(_ context.Context, in *describeSecretInput) (*describeSecretOutput, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found, err := s.find(s.secrets, in.SecretID)
	if err != nil {
		return nil, err
	}
	out := &describeSecretOutput{
		ARN: found.ARN, Name: found.Name, Description: found.Description,
		CreatedDate: epoch(found.Created), LastChangedDate: epoch(found.Changed), VersionIDsToStages: map[string][]string{},
	}
	for _, v := range found.Versions {
		if len(v.Stages) > 0 {
			out.VersionIDsToStages[v.ID] = v.Stages
		}
	}
	return out, nil
}
