import PropTypes from 'prop-types';
import packet from '../assets/packet.svg';
import styles from './SeedCard.module.css';

const SeedCard = ({ seed, chosen, onToggle }) => (
  <li className={[styles.card, chosen && styles.chosen].filter(Boolean).join(' ')} style={{ '--seed': seed.color }}>
    <img src={packet} alt="" width="64" height="80" />
    <div>
      <h2>{seed.name}</h2>
      <p>Sow: {seed.sow}</p>
      <button onClick={() => onToggle(seed.id)}>{chosen ? 'Put back' : 'Take a packet'}</button>
    </div>
  </li>
);

SeedCard.propTypes = {
  seed: PropTypes.shape({ id: PropTypes.string, name: PropTypes.string, sow: PropTypes.string, color: PropTypes.string }).isRequired,
  chosen: PropTypes.bool.isRequired,
  onToggle: PropTypes.func.isRequired,
};

export default SeedCard;
