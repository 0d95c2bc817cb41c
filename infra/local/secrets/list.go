package secrets

import (
	"encoding/base64"
	"slices"
	"strconv"
)

// description is what DescribeSecret and ListSecrets tell of a secret: everything but its values.
type description struct {
	ARN             string              `json:"ARN"`
	Name            string              `json:"Name"`
	Description     string              `json:"Description,omitzero"`
	KMSKeyID        string              `json:"KmsKeyId,omitzero"`
	CreatedDate     epoch               `json:"CreatedDate"`
	LastChangedDate epoch               `json:"LastChangedDate"`
	DeletedDate     epoch               `json:"DeletedDate,omitzero"`
	Tags            []tag               `json:"Tags,omitzero"`
	Versions        map[string][]string `json:"VersionIdsToStages,omitzero"`
	// Listed has the same in ListSecrets, where AWS gives it another name.
	Listed map[string][]string `json:"SecretVersionsToStages,omitzero"`
}

func (sec *secret) describe() description {
	return description{
		ARN: sec.ARN, Name: sec.Name, Description: sec.Description, KMSKeyID: sec.KMSKeyID, Tags: sec.Tags,
		CreatedDate: toEpoch(sec.Created), LastChangedDate: toEpoch(sec.Changed), DeletedDate: toEpoch(sec.Deleted),
		Versions: sec.stages(),
	}
}

// stages are the labels of every version that has any.
func (sec *secret) stages() map[string][]string {
	var stages map[string][]string
	for _, v := range sec.Versions {
		if len(v.Stages) == 0 {
			continue
		}
		if stages == nil {
			stages = map[string][]string{}
		}
		stages[v.ID] = v.Stages
	}
	return stages
}

func (s *Store) describeSecret(in secretIDInput) (description, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.find(s.secrets, in.SecretID)
	if err != nil {
		return description{}, err
	}
	return found.describe(), nil
}

type listSecretsInput struct {
	IncludePlannedDeletion bool   `json:"IncludePlannedDeletion"`
	MaxResults             *int   `json:"MaxResults"`
	NextToken              string `json:"NextToken"`
	SortOrder              string `json:"SortOrder"`
}

type listedSecrets struct {
	SecretList []description `json:"SecretList"`
	NextToken  string        `json:"NextToken,omitzero"`
}

func (s *Store) listSecrets(in listSecretsInput) (listedSecrets, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	listed := []description{}
	for i := range s.secrets {
		sec := &s.secrets[i]
		if sec.due(now) || (!sec.Deleted.IsZero() && !in.IncludePlannedDeletion) {
			continue
		}
		entry := sec.describe()
		entry.Versions, entry.Listed = nil, entry.Versions
		listed = append(listed, entry)
	}
	switch in.SortOrder {
	case "", "asc":
	case "desc":
		slices.Reverse(listed)
	default:
		return listedSecrets{}, invalidParameter("SortOrder must be asc or desc.")
	}
	from, to, next, err := page(len(listed), in.MaxResults, in.NextToken)
	if err != nil {
		return listedSecrets{}, err
	}
	return listedSecrets{SecretList: listed[from:to], NextToken: next}, nil
}

// page cuts a list of n: 100 entries unless less is asked for. The token is the place to go on at.
func page(n int, limit *int, token string) (from, to int, next string, err error) {
	size := 100
	if limit != nil {
		if size = *limit; size < 1 || size > 100 {
			return 0, 0, "", invalidParameter("MaxResults must be between 1 and 100.")
		}
	}
	if token != "" {
		text, err := base64.RawURLEncoding.DecodeString(token)
		if err == nil {
			from, err = strconv.Atoi(string(text))
		}
		if err != nil || from < 0 {
			return 0, 0, "", &Error{Type: "InvalidNextTokenException", Message: "The NextToken value is invalid."}
		}
	}
	from = min(from, n)
	to = min(from+size, n)
	if to < n {
		next = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(to)))
	}
	return from, to, next, nil
}

type listVersionsInput struct {
	SecretID          string `json:"SecretId"`
	IncludeDeprecated bool   `json:"IncludeDeprecated"`
	MaxResults        *int   `json:"MaxResults"`
	NextToken         string `json:"NextToken"`
}

type listedVersion struct {
	VersionID     string   `json:"VersionId"`
	VersionStages []string `json:"VersionStages,omitzero"`
	CreatedDate   epoch    `json:"CreatedDate"`
}

type listedVersions struct {
	ARN       string          `json:"ARN"`
	Name      string          `json:"Name"`
	Versions  []listedVersion `json:"Versions"`
	NextToken string          `json:"NextToken,omitzero"`
}

func (s *Store) listVersions(in listVersionsInput) (listedVersions, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.find(s.secrets, in.SecretID)
	if err != nil {
		return listedVersions{}, err
	}
	versions := []listedVersion{}
	for _, v := range found.Versions {
		if len(v.Stages) > 0 || in.IncludeDeprecated {
			versions = append(versions, listedVersion{v.ID, v.Stages, toEpoch(v.Created)})
		}
	}
	from, to, next, err := page(len(versions), in.MaxResults, in.NextToken)
	if err != nil {
		return listedVersions{}, err
	}
	return listedVersions{ARN: found.ARN, Name: found.Name, Versions: versions[from:to], NextToken: next}, nil
}
