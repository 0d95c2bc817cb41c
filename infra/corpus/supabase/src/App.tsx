import { Navigate, Route, Routes } from 'react-router-dom';
import { useAuth } from './auth/AuthContext';
import { Login } from './pages/Login';
import { Pantry } from './pages/Pantry';

function App() {
  const { email } = useAuth();
  return (
    <Routes>
      <Route path="/" element={email ? <Navigate to="/pantry" replace /> : <Login />} />
      <Route path="/pantry" element={email ? <Pantry /> : <Navigate to="/" replace />} />
      <Route path="*" element={<Navigate to="/" replace />} />
    </Routes>
  );
}

export default App;
