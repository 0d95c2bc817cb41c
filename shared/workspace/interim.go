package workspace

import (
	"errors"

	"devplatform/shared/api"
	"devplatform/shared/db"
)

// PageInput is a page of a list.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" doc:"At most so many" example:"50"`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before"`
}

type interimDone struct {
	Success bool   `json:"success" doc:"Always true" example:"true"`
	Message string `json:"message" doc:"What happened, for people" example:"Done."`
}

func fit[T any](items []T, limit int) int {
	if limit == 0 {
		return len(items)
	}
	return min(len(items), limit)
}

func cursorError(err error) error {
	if errors.Is(err, db.ErrCursor) {
		return api.NewError(api.CodeValidationFailed, "cursor: is not one of this list")
	}
	return err
}
