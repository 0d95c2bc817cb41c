package blueprint

import "errors"

func makeGo(_ Spec) (Result, error) {
	return Result{}, errors.New("there are no blueprints for this yet")
}
