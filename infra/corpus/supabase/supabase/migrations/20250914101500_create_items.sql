/*
  # Items of the pantry

  1. New table `items`
  2. Row level security: signed-in people see and change their own items
*/
CREATE TABLE IF NOT EXISTS items (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL DEFAULT auth.uid() REFERENCES auth.users,
  name text NOT NULL,
  amount integer NOT NULL DEFAULT 1,
  shelf text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE items ENABLE ROW LEVEL SECURITY;

CREATE POLICY "People manage their own items"
  ON items
  FOR ALL
  TO authenticated
  USING (auth.uid() = user_id)
  WITH CHECK (auth.uid() = user_id);
