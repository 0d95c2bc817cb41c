package secrets

import (
	"regexp"
	"slices"

	"devplatform/infra/local/stack"
)

type createSecretInput struct {
	Name               string  `json:"Name"`
	ClientRequestToken string  `json:"ClientRequestToken"`
	Description        string  `json:"Description"`
	KMSKeyID           string  `json:"KmsKeyId"`
	SecretString       *string `json:"SecretString"`
	SecretBinary       []byte  `json:"SecretBinary"`
	Tags               []tag   `json:"Tags"`
}

// written is what operations answer that make or find a version.
type written struct {
	ARN           string   `json:"ARN"`
	Name          string   `json:"Name"`
	VersionID     string   `json:"VersionId,omitzero"`
	VersionStages []string `json:"VersionStages,omitzero"`
}

var secretNames = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]{1,512}$`)

func (s *Store) createSecret(in createSecretInput) (written, error) {
	v := value{in.SecretString, in.SecretBinary}
	if !secretNames.MatchString(in.Name) {
		return written{}, invalidParameter("Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!")
	}
	if err := firstOf(checkToken(in.ClientRequestToken), v.check()); err != nil {
		return written{}, err
	}
	var out written
	err := s.change(func(all *[]secret) error {
		now := s.now()
		at := slices.IndexFunc(*all, func(sec secret) bool { return sec.Name == in.Name })
		if at >= 0 {
			again, err := sameCreation(&(*all)[at], in.ClientRequestToken, v)
			out = again
			return err
		}
		made := secret{
			Name: in.Name, ARN: stack.SecretARN(s.options.Region, s.options.Account, in.Name), Description: in.Description,
			KMSKeyID: in.KMSKeyID, Tags: in.Tags, Created: now, Changed: now,
		}
		out = written{ARN: made.ARN, Name: made.Name}
		if !v.empty() {
			first, err := made.put(in.ClientRequestToken, v, []string{stageCurrent}, now)
			if err != nil {
				return err
			}
			out.VersionID = first.ID
		}
		*all = append(*all, made)
		return nil
	})
	return out, err
}

// sameCreation answers a CreateSecret whose name is taken: a repetition with the token of the first is no error.
func sameCreation(taken *secret, token string, v value) (written, error) {
	if !taken.Deleted.IsZero() {
		return written{}, invalidRequest("You can't create this secret because a secret with this name is already scheduled for deletion.")
	}
	if known := taken.version(token); known != nil && known.Value.equal(v) {
		return written{ARN: taken.ARN, Name: taken.Name, VersionID: known.ID}, nil
	}
	return written{}, exists("The operation failed because the secret %s already exists.", taken.Name)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

type putSecretValueInput struct {
	SecretID           string   `json:"SecretId"`
	ClientRequestToken string   `json:"ClientRequestToken"`
	SecretString       *string  `json:"SecretString"`
	SecretBinary       []byte   `json:"SecretBinary"`
	VersionStages      []string `json:"VersionStages"`
}

func (s *Store) putSecretValue(in putSecretValueInput) (written, error) {
	v := value{in.SecretString, in.SecretBinary}
	if v.empty() {
		return written{}, invalidRequest("You must provide either SecretString or SecretBinary.")
	}
	if len(in.VersionStages) > maxStages {
		return written{}, invalidParameter("A version can have %d staging labels at most.", maxStages)
	}
	if len(in.VersionStages) == 0 {
		in.VersionStages = []string{stageCurrent}
	}
	if err := firstOf(checkToken(in.ClientRequestToken), v.check()); err != nil {
		return written{}, err
	}
	var out written
	err := s.change(func(all *[]secret) error {
		found, err := s.findAlive(*all, in.SecretID)
		if err != nil {
			return err
		}
		put, err := found.put(in.ClientRequestToken, v, in.VersionStages, s.now())
		if err != nil {
			return err
		}
		out = written{ARN: found.ARN, Name: found.Name, VersionID: put.ID, VersionStages: slices.Clone(put.Stages)}
		return nil
	})
	return out, err
}

type updateSecretInput struct {
	SecretID           string  `json:"SecretId"`
	ClientRequestToken string  `json:"ClientRequestToken"`
	Description        *string `json:"Description"`
	KMSKeyID           *string `json:"KmsKeyId"`
	SecretString       *string `json:"SecretString"`
	SecretBinary       []byte  `json:"SecretBinary"`
}

func (s *Store) updateSecret(in updateSecretInput) (written, error) {
	v := value{in.SecretString, in.SecretBinary}
	if err := firstOf(checkToken(in.ClientRequestToken), v.check()); err != nil {
		return written{}, err
	}
	var out written
	err := s.change(func(all *[]secret) error {
		found, err := s.findAlive(*all, in.SecretID)
		if err != nil {
			return err
		}
		out = written{ARN: found.ARN, Name: found.Name}
		if in.Description != nil {
			found.Description, found.Changed = *in.Description, s.now()
		}
		if in.KMSKeyID != nil {
			found.KMSKeyID, found.Changed = *in.KMSKeyID, s.now()
		}
		if v.empty() {
			return nil
		}
		put, err := found.put(in.ClientRequestToken, v, []string{stageCurrent}, s.now())
		if err != nil {
			return err
		}
		out.VersionID = put.ID
		return nil
	})
	return out, err
}

type getSecretValueInput struct {
	SecretID     string `json:"SecretId"`
	VersionID    string `json:"VersionId"`
	VersionStage string `json:"VersionStage"`
}

type secretValue struct {
	ARN           string   `json:"ARN"`
	Name          string   `json:"Name"`
	CreatedDate   epoch    `json:"CreatedDate"`
	SecretString  *string  `json:"SecretString,omitzero"`
	SecretBinary  []byte   `json:"SecretBinary,omitzero"`
	VersionID     string   `json:"VersionId"`
	VersionStages []string `json:"VersionStages"`
}

func (s *Store) getSecretValue(in getSecretValueInput) (secretValue, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.findAlive(s.secrets, in.SecretID)
	if err != nil {
		return secretValue{}, err
	}
	stage := in.VersionStage
	if stage == "" {
		stage = stageCurrent
	}
	v := found.staged(stage)
	if in.VersionID != "" {
		v = found.version(in.VersionID)
	}
	switch {
	case v == nil && in.VersionID != "":
		return secretValue{}, notFound("Secrets Manager can't find the specified secret value for VersionId: %s", in.VersionID)
	case v == nil:
		return secretValue{}, notFound("Secrets Manager can't find the specified secret value for staging label: %s", stage)
	case in.VersionStage != "" && !slices.Contains(v.Stages, stage):
		return secretValue{}, invalidRequest("You provided a VersionStage that is not associated to the provided VersionId.")
	}
	return secretValue{
		ARN: found.ARN, Name: found.Name, CreatedDate: toEpoch(v.Created), VersionID: v.ID, VersionStages: v.Stages,
		SecretString: v.Value.String, SecretBinary: v.Value.Binary,
	}, nil
}

type moveStageInput struct {
	SecretID            string `json:"SecretId"`
	VersionStage        string `json:"VersionStage"`
	MoveToVersionID     string `json:"MoveToVersionId"`
	RemoveFromVersionID string `json:"RemoveFromVersionId"`
}

// moveStage is UpdateSecretVersionStage: it attaches a label to a version, moves it, or takes it away.
func (s *Store) moveStage(in moveStageInput) (written, error) {
	if in.VersionStage == "" {
		return written{}, invalidParameter("You must provide a value for the VersionStage parameter.")
	}
	var out written
	err := s.change(func(all *[]secret) error {
		found, err := s.findAlive(*all, in.SecretID)
		if err != nil {
			return err
		}
		out = written{ARN: found.ARN, Name: found.Name}
		if err := found.checkMove(in); err != nil {
			return err
		}
		found.Changed = s.now()
		if in.MoveToVersionID == "" {
			found.detach(in.VersionStage)
			return nil
		}
		found.move(in.VersionStage, in.MoveToVersionID)
		return nil
	})
	return out, err
}

// checkMove: a label is only ever taken from the version that the request names.
func (sec *secret) checkMove(in moveStageInput) error {
	for _, id := range []string{in.MoveToVersionID, in.RemoveFromVersionID} {
		if id != "" && sec.version(id) == nil {
			return notFound("Secrets Manager can't find the specified secret value for VersionId: %s", id)
		}
	}
	holder := sec.staged(in.VersionStage)
	switch {
	case in.VersionStage == stageCurrent && in.MoveToVersionID == "":
		return invalidParameter("You can't remove the staging label %s: move it to another version.", stageCurrent)
	case in.RemoveFromVersionID != "" && (holder == nil || holder.ID != in.RemoveFromVersionID):
		return invalidParameter("The staging label %s isn't attached to version %s.", in.VersionStage, in.RemoveFromVersionID)
	case holder != nil && holder.ID != in.MoveToVersionID && in.RemoveFromVersionID == "":
		return invalidParameter("The parameter RemoveFromVersionId can't be empty. Staging label %s is currently attached to version %s, "+
			"so you must explicitly reference that version in RemoveFromVersionId.", in.VersionStage, holder.ID)
	}
	return nil
}
