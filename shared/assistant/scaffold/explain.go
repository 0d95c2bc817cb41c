package scaffold

func (c *conversation) explain(in intent) {}
