package secrets

import (
	"bytes"
	"slices"
	"time"
)

const (
	// maxValue is the largest value in bytes, maxVersions the number of versions after which those without a label go.
	maxValue    = 65536
	maxVersions = 100
	maxStages   = 20
)

func (v value) empty() bool {
	return (v.String == nil || *v.String == "") && len(v.Binary) == 0
}

func (v value) check() error {
	if v.String != nil && v.Binary != nil {
		return invalidRequest("You can't specify both a binary secret value and a string secret value in the same secret.")
	}
	if size := len(v.Binary); size > maxValue || (v.String != nil && len(*v.String) > maxValue) {
		return invalidParameter("A secret's value can have %d bytes at most.", maxValue)
	}
	return nil
}

func (v value) equal(other value) bool {
	if (v.String == nil) != (other.String == nil) || (v.String != nil && *v.String != *other.String) {
		return false
	}
	return bytes.Equal(v.Binary, other.Binary)
}

// checkToken holds a ClientRequestToken, which becomes the version's id, against AWS's limits.
func checkToken(token string) error {
	if token != "" && (len(token) < 32 || len(token) > 64) {
		return invalidParameter("ClientRequestToken must be 32-64 characters long.")
	}
	return nil
}

func (sec *secret) version(id string) *version {
	for i := range sec.Versions {
		if sec.Versions[i].ID == id {
			return &sec.Versions[i]
		}
	}
	return nil
}

func (sec *secret) staged(stage string) *version {
	for i := range sec.Versions {
		if slices.Contains(sec.Versions[i].Stages, stage) {
			return &sec.Versions[i]
		}
	}
	return nil
}

// put adds a version, or finds that the token's version is there already with this very value.
func (sec *secret) put(token string, v value, stages []string, now time.Time) (*version, error) {
	if known := sec.version(token); known != nil && token != "" {
		if !known.Value.equal(v) {
			return nil, exists("You can't use ClientRequestToken %s because that value is already in use for a version of secret %s.", token, sec.ARN)
		}
		return known, nil
	}
	if token == "" {
		token = newID()
	}
	if len(sec.Versions) == 0 && !slices.Contains(stages, stageCurrent) {
		stages = append(slices.Clone(stages), stageCurrent) // a first version is always current
	}
	sec.Versions = append(sec.Versions, version{ID: token, Created: now, Value: v})
	for _, stage := range stages {
		sec.move(stage, token)
	}
	sec.Changed = now
	sec.prune()
	return sec.version(token), nil
}

// move attaches a label to a version and takes it from where it was; what was current becomes previous.
func (sec *secret) move(stage, id string) {
	holder := sec.staged(stage)
	if holder != nil && holder.ID == id {
		return
	}
	sec.detach(stage)
	target := sec.version(id)
	target.Stages = append(target.Stages, stage)
	if stage == stageCurrent {
		if holder != nil {
			sec.move(stagePrevious, holder.ID)
		}
		if previous := sec.staged(stagePrevious); previous != nil && previous.ID == id {
			sec.detach(stagePrevious)
		}
	}
}

func (sec *secret) detach(stage string) {
	if holder := sec.staged(stage); holder != nil {
		holder.Stages = slices.DeleteFunc(holder.Stages, func(s string) bool { return s == stage })
	}
}

// prune drops the oldest versions that no label holds.
func (sec *secret) prune() {
	surplus := len(sec.Versions) - maxVersions
	sec.Versions = slices.DeleteFunc(sec.Versions, func(v version) bool {
		if surplus <= 0 || len(v.Stages) > 0 {
			return false
		}
		surplus--
		return true
	})
}
