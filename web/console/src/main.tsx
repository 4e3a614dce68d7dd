import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import '../../identity/tokens.css';
import './styles/base.css';
import './styles/kit.css';
import './styles/skeleton.css';
import './styles/shell.css';

createRoot(document.getElementById('root')!).render(<App />);
