package blueprint

import "errors"

func makeReact(_ Spec) (Result, error) {
	return Result{}, errors.New("there are no blueprints for this yet")
}
