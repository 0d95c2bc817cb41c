package secrets

import (
	"slices"
	"time"

	"devplatform/infra/local/stack"
)

type deleteSecretInput struct {
	SecretID                   string `json:"SecretId"`
	ForceDeleteWithoutRecovery bool   `json:"ForceDeleteWithoutRecovery"`
	RecoveryWindowInDays       *int   `json:"RecoveryWindowInDays"`
}

type deletedSecret struct {
	ARN          string `json:"ARN"`
	Name         string `json:"Name"`
	DeletionDate epoch  `json:"DeletionDate"`
}

func (s *Store) deleteSecret(in deleteSecretInput) (deletedSecret, error) {
	days := 30
	if in.RecoveryWindowInDays != nil {
		days = *in.RecoveryWindowInDays
		if in.ForceDeleteWithoutRecovery {
			return deletedSecret{}, invalidParameter("You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.")
		}
		if days < 7 || days > 30 {
			return deletedSecret{}, invalidParameter("The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).")
		}
	}
	var out deletedSecret
	err := s.change(func(all *[]secret) error {
		now := s.now()
		found, err := s.find(*all, in.SecretID)
		if err != nil && in.ForceDeleteWithoutRecovery && in.SecretID != "" { // on AWS this isn't told from a deletion
			out = deletedSecret{stack.SecretARN(s.options.Region, s.options.Account, in.SecretID), in.SecretID, toEpoch(now)}
			return nil
		}
		if err != nil {
			return err
		}
		if !found.Deleted.IsZero() && !in.ForceDeleteWithoutRecovery {
			return invalidRequest("You can't perform this operation on the secret because it was marked for deletion.")
		}
		found.Deleted, found.DeletionDue = now, now.Add(time.Duration(days)*24*time.Hour)
		out = deletedSecret{found.ARN, found.Name, toEpoch(found.DeletionDue)}
		if in.ForceDeleteWithoutRecovery {
			out.DeletionDate = toEpoch(now)
			name := found.Name
			*all = slices.DeleteFunc(*all, func(sec secret) bool { return sec.Name == name })
		}
		return nil
	})
	return out, err
}

type secretIDInput struct {
	SecretID string `json:"SecretId"`
}

func (s *Store) restoreSecret(in secretIDInput) (written, error) {
	var out written
	err := s.change(func(all *[]secret) error {
		found, err := s.find(*all, in.SecretID)
		if err != nil {
			return err
		}
		found.Deleted, found.DeletionDue = time.Time{}, time.Time{}
		out = written{ARN: found.ARN, Name: found.Name}
		return nil
	})
	return out, err
}
